#!/bin/sh
# HAProxy asks for each server whether it may be the one that is written to; 0 is yes. It gives the server's address and
# port as the third and the fourth argument. The file holds user and password, and HAProxy alone may read it.
# MySQL and MariaDB each take for a comment what is meant for the other.
said=$(mysql --defaults-file=/etc/haproxy/check.cnf --connect-timeout=1 -h "$3" -P "$4" -N -B \
  -e "SHOW GLOBAL VARIABLES WHERE Variable_name IN ('read_only', 'wsrep_on', 'group_replication_group_name') AND Value <> '';
    SHOW GLOBAL STATUS WHERE Variable_name IN ('wsrep_ready', 'wsrep_local_state');
    SET autocommit = 1 /*!100000 , wsrep_sync_wait = 1 */ /*!80014 , group_replication_consistency = 'BEFORE' */;
    BEGIN;
    SELECT 'asked_the_others', 'ON' /*!80014 UNION ALL SELECT 'member', CONCAT(MEMBER_STATE, '_', MEMBER_ROLE)
      FROM performance_schema.replication_group_members WHERE MEMBER_ID = @@server_uuid */" 2>/dev/null)
# Each line is a name, a tab and a value. Without a program for each line, as this runs every second for each server.
says() { case $said in *$1?$2*) ;; *) return 1 ;; esac; }
says read_only OFF || exit 1
# Nothing more is to be known of a server that is in no group.
says wsrep_on ON || says group_replication_group_name || exit 0
# A node that stood still for a while says that all is well until it learns that the others went on without it. Only the
# transaction tells, as it waits for them before it begins.
says asked_the_others ON || exit 1
# A node of Galera that has its quorum, and all that the others have (4).
says wsrep_on ON && says wsrep_ready ON && says wsrep_local_state 4 && exit 0
# A member of Group Replication that could not join its group takes writes too.
says member ONLINE_PRIMARY
