#!/bin/sh
# HAProxy runs this program for each server. Exit code 0 means that the server may take writes. The third and the fourth
# argument are the server's address and port. check.cnf has user and password, so only HAProxy may read it.
# MySQL and MariaDB each treat the part for the other as a comment.
said=$(mysql --defaults-file=/etc/haproxy/check.cnf --connect-timeout=1 -h "$3" -P "$4" -N -B \
  -e "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on', 'group_replication_group_name') AND Value <> '';
    SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state');
    SET autocommit = 1 /*!100000 , wsrep_sync_wait = 1 */ /*!80014 , group_replication_consistency = 'BEFORE' */;
    BEGIN;
    SELECT 'asked_the_others', 'ON' /*!80014 UNION ALL SELECT 'member', CONCAT(MEMBER_STATE, '_', MEMBER_ROLE)
      FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid */" 2>/dev/null)
# Each line is a name, a tab and a value. The search starts no other program, because it runs every second for each
# server.
says() { case $said in *$1?$2*) ;; *) return 1 ;; esac; }
says read_only OFF || exit 1
# A server that is in no group needs no further check.
says wsrep_on ON || says group_replication_group_name || exit 0
# A node that was frozen for a while reports itself as healthy until it learns that the others went on without it. Only
# the transaction shows this, because it waits for the others before it begins.
says asked_the_others ON || exit 1
# A Galera node with a quorum, and with all changes of the other nodes (state 4).
says wsrep_on ON && says wsrep_ready ON && says wsrep_local_state 4 && exit 0
# A member of Group Replication that could not join its group takes writes too.
says member ONLINE_PRIMARY
