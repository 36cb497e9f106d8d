PORTAL=BASE
CREDENCIAL='Authorization: TOKEN'

# O cabeçalho Location é o endereço do lote.
LOTE=$(curl -s -o lote.json -w '%header{location}' \
  -H "$CREDENCIAL" -H 'Content-Type: application/json' \
  -d '{"plates": ["ABC1D23", "LMP0A01"]}' \
  $PORTAL/api/v1/batches)
curl -s -X POST -H "$CREDENCIAL" -o lote.json $PORTAL$LOTE/start
while curl -sSf --retry 3 -H "$CREDENCIAL" "$PORTAL$LOTE?wait=30" |
  grep -q '"state":"running"'
do sleep 1; done

for tipo in csv jsonl xlsx zip; do
  curl -s -H "$CREDENCIAL" -o resultados.$tipo \
    $PORTAL$LOTE/results.$tipo
done
cat resultados.csv
