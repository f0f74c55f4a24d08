#!/bin/sh
# First start of the PostgreSQL container: the gateway's role owns its database and is not a
# superuser.
set -eu
psql --set=ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname postgres <<'SQL'
\getenv password GATEWAY_PASSWORD
create role gateway login password :'password';
create database gateway owner gateway;
SQL
