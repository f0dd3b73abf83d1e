-- Roles for programs that use a copy in PostgreSQL. The owner of the database runs the blocks that are needed, once the tables
-- exist. The last block needs the tables of a fleet: time-punches fleet migrate makes them.

-- Reads: summary, report, payroll check, list, show, file, due, verify and diff, copy status and feed, doctor, mcp, fleet list and status.
CREATE ROLE punches_reader LOGIN;
ALTER ROLE punches_reader SET search_path = public;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO punches_reader;

-- Keeps the copy: sync with --history and --sweep. DELETE on the history is for --keep-history alone.
CREATE ROLE punches_syncer LOGIN;
ALTER ROLE punches_syncer SET search_path = public;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO punches_syncer;
GRANT INSERT, UPDATE ON time_punches, time_punches_history, time_punches_sync TO punches_syncer;
GRANT DELETE ON time_punches_history TO punches_syncer;

-- Closes: payroll close, correct and void, and the note of a payroll file. It changes and removes nothing of a close.
CREATE ROLE punches_payroll LOGIN;
ALTER ROLE punches_payroll SET search_path = public;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO punches_payroll;
GRANT INSERT ON time_punches_close, time_punches_close_state, time_punches_close_row,
  time_punches_close_file TO punches_payroll;
GRANT UPDATE (company_id) ON time_punches_sync TO punches_payroll;

-- A fleet: fleet run, and the verbs that add, pause and remove companies. DELETE on the copy is for fleet remove --purge.
CREATE ROLE punches_fleet LOGIN;
ALTER ROLE punches_fleet SET search_path = public;
GRANT SELECT ON ALL TABLES IN SCHEMA public TO punches_fleet;
GRANT INSERT, UPDATE, DELETE ON time_punches, time_punches_history, time_punches_sync TO punches_fleet;
GRANT INSERT, UPDATE, DELETE ON fleet_company, fleet_run, fleet_minute, fleet_pause, fleet_solo, fleet_setting, fleet_rate,
  fleet_trouble, fleet_runner, fleet_removal, fleet_cluster_locks, fleet_cluster_runners TO punches_fleet;
GRANT USAGE ON SEQUENCE fleet_cluster_runners_machine_id_seq TO punches_fleet;
