PORTAL=BASE
CREDENCIAL='Authorization: TOKEN'

# O cabeçalho Location é o endereço do lote.
LOTE=$(curl -s -o lote.json -w '%header{location}' \
  -H "$CREDENCIAL" -H 'Content-Type: application/json' \
  -d '{"plates": ["ABC1D23"]}' \
  $PORTAL/api/v1/batches)
curl -X POST -H "$CREDENCIAL" $PORTAL$LOTE/cancel
