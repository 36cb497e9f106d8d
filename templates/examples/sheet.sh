PORTAL=BASE
CREDENCIAL='Authorization: TOKEN'

# Uma planilha de exemplo, se não há outra.
test -e placas.csv ||
  printf 'placa;cliente\nABC1D23;Ana\nLMP0A01;Rui\nJUD0A04;Eva\n' > placas.csv

# A primeira coluna, sem o título, numa lista JSON.
PLACAS=$(tail -n +2 placas.csv | cut -d';' -f1 | cut -d, -f1 |
  tr -d '"\r' | sed -n 's/..*/"&"/p' | paste -sd,)
LOTE=$(curl -s -o lote.json -w '%header{location}' \
  -H "$CREDENCIAL" -H 'Content-Type: application/json' \
  -d "{\"plates\": [$PLACAS]}" \
  $PORTAL/api/v1/batches)
curl -s -X POST -H "$CREDENCIAL" -o lote.json $PORTAL$LOTE/start
while curl -sSf --retry 3 -H "$CREDENCIAL" "$PORTAL$LOTE?wait=30" |
  grep -q '"state":"running"'
do sleep 1; done
curl -s -H "$CREDENCIAL" -o resultados.csv $PORTAL$LOTE/results.csv
cat resultados.csv
