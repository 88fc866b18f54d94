-- The PostgreSQL image runs this file once. The service gets its own role and database. The image has given the
-- superuser the same password. This file removes it, so that the superuser cannot log in over the network.
\set password `cat /run/secrets/password`
CREATE ROLE plants LOGIN PASSWORD :'password';
CREATE DATABASE plants OWNER plants;
ALTER ROLE CURRENT_USER PASSWORD NULL;
