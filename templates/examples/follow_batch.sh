PORTAL=BASE
CREDENCIAL='Authorization: TOKEN'

# O cabeçalho Location é o endereço do lote.
LOTE=$(curl -s -o lote.json -w '%header{location}' \
  -H "$CREDENCIAL" -H 'Content-Type: application/json' \
  -d '{"plates": ["ABC1D23", "LMP0A01"]}' \
  $PORTAL/api/v1/batches)

curl -s -X POST -H "$CREDENCIAL" $PORTAL$LOTE/start
curl -s -X POST -H "$CREDENCIAL" $PORTAL$LOTE/pause  # 409 se acabou
curl -s -X POST -H "$CREDENCIAL" $PORTAL$LOTE/start  # retoma
# Cada resposta vem com uma mudança, ou depois de 30 s.
while curl -sSf --retry 3 -H "$CREDENCIAL" "$PORTAL$LOTE?wait=30" |
  grep -q '"state":"running"'
do sleep 1; done
curl -s -H "$CREDENCIAL" $PORTAL$LOTE
