PORTAL=BASE
CREDENCIAL='Authorization: TOKEN'

for placa in ABC1D23 LMP0A01; do
  curl -s --fail -H "$CREDENCIAL" -o $placa.novo \
    $PORTAL/api/v1/vehicles/$placa/fines.jsonl || continue
  touch $placa.jsonl
  cmp -s $placa.jsonl $placa.novo || echo "$placa: multas mudaram"
  mv $placa.novo $placa.jsonl
done
