-- Run once by the PostgreSQL image, whose superuser it has made with the password of this file: the service gets a role
-- and a database of its own, and the superuser can no longer come by the network.
\set password `cat /run/secrets/password`
CREATE ROLE plants LOGIN PASSWORD :'password';
CREATE DATABASE plants OWNER plants;
ALTER ROLE CURRENT_USER PASSWORD NULL;
