# --retry espera o que Retry-After pede em 429 e 503,
# e repete também 500, 502 e 504.
curl -sS --retry 2 --retry-max-time 60 \
  -H 'Authorization: TOKEN' \
  BASE/detran/v1/restrictions/renainf/ABC1D23
