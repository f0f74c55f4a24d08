#!/bin/sh
# Makes the secrets of docker-compose.yml: .env for secrets that are settings, and one file in
# secrets/ for each other secret. Existing secrets stay. Back up both: the database and all keys
# depend on them.
set -eu
cd "$(dirname "$0")/.."
umask 077
digits() { od -An -N32 -tx1 /dev/urandom | tr -d ' \n'; }

touch .env
for name in GATEWAY_PASSWORD REDIS_PASSWORD; do
  grep -q "^$name=" .env || echo "$name=$(digits)" >> .env
done
grep -q '^KEY_PEPPER=' .env || echo "KEY_PEPPER=1:$(digits)" >> .env

# Only the owner can open the folder. The files are readable for the users of the containers that
# mount them.
mkdir -p secrets
for name in postgres-password signer-secret signer-passphrase grafana-password; do
  [ -e "secrets/$name" ] || digits > "secrets/$name"
  chmod 444 "secrets/$name"
done
echo "secrets are in .env and secrets/"
