import pg from 'pg'
import { type FreshDatabase, freshDatabase, runSql } from '../postgres.ts'

/** A database in which tables and functions answer as those of Citus do on its coordinator. They place nothing. */
export async function databaseWithCatalog(): Promise<FreshDatabase> {
  const database = await freshDatabase()
  await runSql(database.url, CATALOG)
  const daemon = new pg.Client({
    connectionString: database.url,
    application_name: 'Citus Maintenance Daemon',
  })
  daemon.on('error', () => {}) // the database is dropped by force
  await daemon.connect()
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await daemon.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

/** A coordinator and two workers. `answers` and `max_prepared` are what a worker says to a command. */
const CATALOG = `
  set allow_system_table_mods = on;
  insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
    values (99999, 'citus', 10, 'public'::regnamespace, false, '13.2-1');
  create table pg_dist_node (nodeid int, groupid int, nodename text, nodeport int, noderole text default 'primary',
    isactive boolean default true, shouldhaveshards boolean, answers boolean default true, max_prepared int default 100);
  insert into pg_dist_node (nodeid, groupid, nodename, nodeport, shouldhaveshards)
    values (1, 0, 'coordinator', 5432, false), (2, 1, 'one', 5432, true), (3, 2, 'two', 5433, true);
  create table pg_dist_partition (logicalrelid regclass, partmethod "char", partkey text, colocationid int);
  create function column_to_column_name(regclass, text) returns text language sql as 'select $2';
  create sequence groups;
  create function create_distributed_table(placed regclass, key text, shard_count int default 32, colocate_with text default 'none')
    returns void language sql as $$
      insert into pg_dist_partition values (placed, 'h', key, case when colocate_with = 'none' then nextval('groups')
        else (select colocationid from pg_dist_partition where logicalrelid = colocate_with::regclass) end) $$;
  create function citus_add_local_table_to_metadata(placed regclass) returns void language sql as
    $$ insert into pg_dist_partition values (placed, 'n', null, 0) $$;
  create function run_command_on_workers(command text)
    returns table (nodename text, nodeport int, success boolean, result text) language sql as $$
      select nodename, nodeport, answers, case when not answers then 'connection failed'
        when command = 'show max_prepared_transactions' then max_prepared::text else '1' end
      from pg_dist_node where groupid > 0 $$;
`
