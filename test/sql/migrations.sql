-- sqlite

CREATE TABLE IF NOT EXISTS time_punches_migrations (
  migration_id integer PRIMARY KEY NOT NULL,
  created_at datetime NOT NULL DEFAULT current_timestamp,
  name VARCHAR(255) NOT NULL
);

CREATE TABLE time_punches (
  company_id INTEGER NOT NULL,
  id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  role_id INTEGER NOT NULL,
  location_id INTEGER NOT NULL,
  department_id INTEGER,
  shift_id INTEGER,
  clocked_in INTEGER NOT NULL,
  clocked_out INTEGER,
  hourly_wage INTEGER NOT NULL,
  tips INTEGER NOT NULL,
  approved INTEGER NOT NULL,
  editable_punch INTEGER NOT NULL,
  auto_clocked_out INTEGER NOT NULL,
  clocked_in_offline INTEGER NOT NULL,
  clocked_out_offline INTEGER NOT NULL,
  pos_type TEXT,
  notes TEXT NOT NULL,
  created INTEGER,
  modified INTEGER,
  deleted INTEGER NOT NULL,
  breaks TEXT NOT NULL,
  pass INTEGER NOT NULL,
  missing_at INTEGER,
  valid_from INTEGER,
  PRIMARY KEY (company_id, id)
) STRICT;

CREATE INDEX time_punches_clocked_in ON time_punches (company_id, clocked_in);

CREATE TABLE time_punches_sync (
  company_id INTEGER NOT NULL PRIMARY KEY,
  checkpoint TEXT,
  pass_began INTEGER,
  unknown TEXT,
  error_at INTEGER,
  error_tag TEXT,
  error_text TEXT,
  history_since INTEGER,
  history_last INTEGER,
  known_since INTEGER
) STRICT;

CREATE TABLE time_punches_history (
  company_id INTEGER NOT NULL,
  id INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  role_id INTEGER NOT NULL,
  location_id INTEGER NOT NULL,
  department_id INTEGER,
  shift_id INTEGER,
  clocked_in INTEGER NOT NULL,
  clocked_out INTEGER,
  hourly_wage INTEGER NOT NULL,
  tips INTEGER NOT NULL,
  approved INTEGER NOT NULL,
  editable_punch INTEGER NOT NULL,
  auto_clocked_out INTEGER NOT NULL,
  clocked_in_offline INTEGER NOT NULL,
  clocked_out_offline INTEGER NOT NULL,
  pos_type TEXT,
  notes TEXT NOT NULL,
  created INTEGER,
  modified INTEGER,
  deleted INTEGER NOT NULL,
  breaks TEXT NOT NULL,
  pass INTEGER NOT NULL,
  missing_at INTEGER,
  valid_from INTEGER,
  valid_to INTEGER NOT NULL,
  PRIMARY KEY (company_id, id, valid_to),
  CHECK (valid_from < valid_to)
) STRICT;

CREATE INDEX time_punches_history_ended ON time_punches_history (company_id, valid_to);

CREATE INDEX time_punches_begun ON time_punches (company_id, valid_from, id) WHERE valid_from IS NOT NULL;

CREATE INDEX time_punches_history_begun ON time_punches_history (company_id, valid_from, id) WHERE valid_from IS NOT NULL;

CREATE TRIGGER time_punches_keep_version AFTER UPDATE OF valid_from ON time_punches
WHEN NEW.valid_from IS NOT NULL AND NEW.valid_from IS NOT OLD.valid_from
BEGIN
  INSERT INTO time_punches_history (company_id, id, user_id, role_id, location_id, department_id, shift_id, clocked_in, clocked_out, hourly_wage, tips, approved, editable_punch, auto_clocked_out, clocked_in_offline, clocked_out_offline, pos_type, notes, created, modified, deleted, breaks, pass, missing_at, valid_from, valid_to)
  VALUES (OLD.company_id, OLD.id, OLD.user_id, OLD.role_id, OLD.location_id, OLD.department_id, OLD.shift_id, OLD.clocked_in, OLD.clocked_out, OLD.hourly_wage, OLD.tips, OLD.approved, OLD.editable_punch, OLD.auto_clocked_out, OLD.clocked_in_offline, OLD.clocked_out_offline, OLD.pos_type, OLD.notes, OLD.created, OLD.modified, OLD.deleted, OLD.breaks, OLD.pass, OLD.missing_at, OLD.valid_from, NEW.valid_from);
END;

CREATE TRIGGER time_punches_refuse_hole BEFORE UPDATE OF checkpoint ON time_punches_sync
WHEN OLD.history_since IS NOT NULL AND NEW.checkpoint IS NOT NULL AND (NEW.history_last IS NULL OR NEW.history_last <= OLD.history_last)
BEGIN
  SELECT RAISE(ABORT, 'the history of this company has begun, and this write would leave a hole in it: use a release that keeps histories, or raise history_last too');
END;

CREATE TRIGGER time_punches_refuse_end BEFORE DELETE ON time_punches_sync
WHEN OLD.history_since IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'the history of this company is known by this row: set its checkpoint to NULL to load everything, or purge the company with a release that keeps histories');
END;

CREATE VIEW time_punches_current AS SELECT
  t.company_id,
  t.id,
  t.user_id,
  t.role_id,
  t.location_id,
  t.department_id,
  t.shift_id,
  strftime('%Y-%m-%dT%H:%M:%S', (t.clocked_in - (t.clocked_in % 1000 + 1000) % 1000) / 1000, 'unixepoch') || printf('.%03dZ', (t.clocked_in % 1000 + 1000) % 1000) AS clocked_in,
  strftime('%Y-%m-%dT%H:%M:%S', (t.clocked_out - (t.clocked_out % 1000 + 1000) % 1000) / 1000, 'unixepoch') || printf('.%03dZ', (t.clocked_out % 1000 + 1000) % 1000) AS clocked_out,
  t.hourly_wage / 100.0 AS hourly_wage,
  t.tips / 100.0 AS tips,
  t.approved,
  t.editable_punch,
  t.auto_clocked_out,
  t.clocked_in_offline,
  t.clocked_out_offline,
  t.pos_type,
  t.notes,
  strftime('%Y-%m-%dT%H:%M:%S', (t.created - (t.created % 1000 + 1000) % 1000) / 1000, 'unixepoch') || printf('.%03dZ', (t.created % 1000 + 1000) % 1000) AS created,
  strftime('%Y-%m-%dT%H:%M:%S', (t.modified - (t.modified % 1000 + 1000) % 1000) / 1000, 'unixepoch') || printf('.%03dZ', (t.modified % 1000 + 1000) % 1000) AS modified,
  t.breaks,
  CASE WHEN t.clocked_out >= t.clocked_in THEN (t.clocked_out - t.clocked_in - CASE WHEN t.breaks = '[]' THEN 0 ELSE (
    SELECT coalesce(sum(max(0, ended - max(started, coalesce(reached, started)))), 0) FROM (
      SELECT started, ended, max(ended) OVER (
        ORDER BY started, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached FROM (
        SELECT
          max(t.clocked_in, (unixepoch(substr(json_extract(b.value, '$.in'), 1, 19)) * 1000 + CAST(substr(json_extract(b.value, '$.in'), 21, 3) AS INTEGER))) AS started,
          min(t.clocked_out, coalesce((unixepoch(substr(json_extract(b.value, '$.out'), 1, 19)) * 1000 + CAST(substr(json_extract(b.value, '$.out'), 21, 3) AS INTEGER)), t.clocked_out)) AS ended
        FROM json_each(t.breaks) AS b WHERE NOT json_extract(b.value, '$.paid') AND NOT coalesce(json_extract(b.value, '$.deleted'), 0)
      ) AS clipped WHERE ended > started
    ) AS ordered
  ) END) / 3600000.0 END AS hours_worked
FROM time_punches AS t WHERE NOT t.deleted AND t.missing_at IS NULL;

CREATE VIEW time_punches_breaks AS SELECT
  t.company_id,
  t.id AS time_punch_id,
  b.key + 1 AS place,
  json_extract(b.value, '$.id') AS id,
  json_extract(b.value, '$.user_id') AS user_id,
  json_extract(b.value, '$.custom_break_id') AS custom_break_id,
  json_extract(b.value, '$.paid') AS paid,
  json_extract(b.value, '$.in') AS break_in,
  json_extract(b.value, '$.out') AS break_out
FROM time_punches AS t, json_each(t.breaks) AS b WHERE NOT t.deleted AND t.missing_at IS NULL AND NOT coalesce(json_extract(b.value, '$.deleted'), 0);

CREATE TRIGGER time_punches_row_removed AFTER DELETE ON time_punches
BEGIN
  UPDATE time_punches_sync SET known_since = NULL WHERE company_id = OLD.company_id AND known_since IS NOT NULL;
END;

CREATE TABLE time_punches_close (
  company_id INTEGER NOT NULL,
  close_id INTEGER NOT NULL,
  terms TEXT NOT NULL,
  PRIMARY KEY (company_id, close_id)
) STRICT;

CREATE TABLE time_punches_close_state (
  company_id INTEGER NOT NULL,
  close_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  before INTEGER,
  kind TEXT NOT NULL,
  at INTEGER NOT NULL,
  closed_at INTEGER NOT NULL,
  user_name TEXT NOT NULL,
  note TEXT NOT NULL,
  accepted TEXT NOT NULL,
  added TEXT NOT NULL,
  release TEXT NOT NULL,
  rules INTEGER NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (company_id, close_id, number)
) STRICT;

CREATE TABLE time_punches_close_row (
  company_id INTEGER NOT NULL,
  close_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  place INTEGER NOT NULL,
  user_id INTEGER NOT NULL,
  location_id INTEGER NOT NULL,
  department_id INTEGER,
  role_id INTEGER NOT NULL,
  hourly_wage INTEGER NOT NULL,
  punches INTEGER NOT NULL,
  incomplete INTEGER NOT NULL,
  net_ms INTEGER NOT NULL,
  cost_cents INTEGER NOT NULL,
  tips_cents INTEGER NOT NULL,
  over_ms INTEGER,
  double_ms INTEGER,
  PRIMARY KEY (company_id, close_id, number, place)
) STRICT;

CREATE TABLE time_punches_close_file (
  company_id INTEGER NOT NULL,
  close_id INTEGER NOT NULL,
  number INTEGER NOT NULL,
  place INTEGER NOT NULL,
  noted_at INTEGER NOT NULL,
  user_name TEXT NOT NULL,
  mapping TEXT NOT NULL,
  mapping_hash TEXT NOT NULL,
  codes TEXT NOT NULL,
  codes_hash TEXT NOT NULL,
  token TEXT NOT NULL,
  PRIMARY KEY (company_id, close_id, number, place)
) STRICT;

CREATE TRIGGER time_punches_erase_closes AFTER DELETE ON time_punches_sync
BEGIN
  DELETE FROM time_punches_close WHERE company_id = OLD.company_id;
  DELETE FROM time_punches_close_state WHERE company_id = OLD.company_id;
  DELETE FROM time_punches_close_row WHERE company_id = OLD.company_id;
  DELETE FROM time_punches_close_file WHERE company_id = OLD.company_id;
END;

INSERT INTO time_punches_migrations (migration_id, name) VALUES (10, 'tables') ON CONFLICT (migration_id) DO NOTHING;

-- pg

CREATE TABLE IF NOT EXISTS time_punches_migrations (
  migration_id integer PRIMARY KEY,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  name text NOT NULL
);

CREATE TABLE time_punches (
  company_id bigint NOT NULL,
  id bigint NOT NULL,
  user_id bigint NOT NULL,
  role_id bigint NOT NULL,
  location_id bigint NOT NULL,
  department_id bigint,
  shift_id bigint,
  clocked_in timestamptz NOT NULL,
  clocked_out timestamptz,
  hourly_wage bigint NOT NULL,
  tips bigint NOT NULL,
  approved boolean NOT NULL,
  editable_punch boolean NOT NULL,
  auto_clocked_out boolean NOT NULL,
  clocked_in_offline boolean NOT NULL,
  clocked_out_offline boolean NOT NULL,
  pos_type text,
  notes text NOT NULL,
  created timestamptz,
  modified timestamptz,
  deleted boolean NOT NULL,
  breaks jsonb NOT NULL,
  pass bigint NOT NULL,
  missing_at timestamptz,
  valid_from timestamptz,
  PRIMARY KEY (company_id, id)
);

CREATE INDEX time_punches_clocked_in ON time_punches (company_id, clocked_in);

CREATE TABLE time_punches_sync (
  company_id bigint NOT NULL PRIMARY KEY,
  checkpoint text,
  pass_began timestamptz,
  unknown text,
  error_at timestamptz,
  error_tag text,
  error_text text,
  history_since timestamptz,
  history_last timestamptz,
  known_since timestamptz
);

CREATE TABLE time_punches_history (
  company_id bigint NOT NULL,
  id bigint NOT NULL,
  user_id bigint NOT NULL,
  role_id bigint NOT NULL,
  location_id bigint NOT NULL,
  department_id bigint,
  shift_id bigint,
  clocked_in timestamptz NOT NULL,
  clocked_out timestamptz,
  hourly_wage bigint NOT NULL,
  tips bigint NOT NULL,
  approved boolean NOT NULL,
  editable_punch boolean NOT NULL,
  auto_clocked_out boolean NOT NULL,
  clocked_in_offline boolean NOT NULL,
  clocked_out_offline boolean NOT NULL,
  pos_type text,
  notes text NOT NULL,
  created timestamptz,
  modified timestamptz,
  deleted boolean NOT NULL,
  breaks jsonb NOT NULL,
  pass bigint NOT NULL,
  missing_at timestamptz,
  valid_from timestamptz,
  valid_to timestamptz NOT NULL,
  PRIMARY KEY (company_id, id, valid_to),
  CHECK (valid_from < valid_to)
);

CREATE INDEX time_punches_history_ended ON time_punches_history (company_id, valid_to);

CREATE INDEX time_punches_begun ON time_punches (company_id, valid_from, id) WHERE valid_from IS NOT NULL;

CREATE INDEX time_punches_history_begun ON time_punches_history (company_id, valid_from, id) WHERE valid_from IS NOT NULL;

DO $do$ BEGIN
EXECUTE (SELECT format($format$CREATE FUNCTION time_punches_keep_version() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO %1$I.time_punches_history (company_id, id, user_id, role_id, location_id, department_id, shift_id, clocked_in, clocked_out, hourly_wage, tips, approved, editable_punch, auto_clocked_out, clocked_in_offline, clocked_out_offline, pos_type, notes, created, modified, deleted, breaks, pass, missing_at, valid_from, valid_to)
  VALUES (OLD.company_id, OLD.id, OLD.user_id, OLD.role_id, OLD.location_id, OLD.department_id, OLD.shift_id, OLD.clocked_in, OLD.clocked_out, OLD.hourly_wage, OLD.tips, OLD.approved, OLD.editable_punch, OLD.auto_clocked_out, OLD.clocked_in_offline, OLD.clocked_out_offline, OLD.pos_type, OLD.notes, OLD.created, OLD.modified, OLD.deleted, OLD.breaks, OLD.pass, OLD.missing_at, OLD.valid_from, NEW.valid_from);
  RETURN NULL;
END $$
$format$, n.nspname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = 'time_punches'::regclass);
END $do$;

CREATE TRIGGER time_punches_keep_version AFTER UPDATE OF valid_from ON time_punches FOR EACH ROW
WHEN (NEW.valid_from IS NOT NULL AND NEW.valid_from IS DISTINCT FROM OLD.valid_from)
EXECUTE FUNCTION time_punches_keep_version();

CREATE FUNCTION time_punches_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION USING MESSAGE = TG_ARGV[0], ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER time_punches_refuse_hole BEFORE UPDATE OF checkpoint ON time_punches_sync FOR EACH ROW
WHEN (OLD.history_since IS NOT NULL AND NEW.checkpoint IS NOT NULL AND (NEW.history_last IS NULL OR NEW.history_last <= OLD.history_last))
EXECUTE FUNCTION time_punches_refuse('the history of this company has begun, and this write would leave a hole in it: use a release that keeps histories, or raise history_last too');

CREATE TRIGGER time_punches_refuse_end BEFORE DELETE ON time_punches_sync FOR EACH ROW
WHEN (OLD.history_since IS NOT NULL)
EXECUTE FUNCTION time_punches_refuse('the history of this company is known by this row: set its checkpoint to NULL to load everything, or purge the company with a release that keeps histories');

CREATE VIEW time_punches_current AS SELECT
  t.company_id,
  t.id,
  t.user_id,
  t.role_id,
  t.location_id,
  t.department_id,
  t.shift_id,
  t.clocked_in,
  t.clocked_out,
  (t.hourly_wage / 100.0)::numeric(20, 2) AS hourly_wage,
  (t.tips / 100.0)::numeric(20, 2) AS tips,
  t.approved,
  t.editable_punch,
  t.auto_clocked_out,
  t.clocked_in_offline,
  t.clocked_out_offline,
  t.pos_type,
  t.notes,
  t.created,
  t.modified,
  t.breaks,
  CASE WHEN t.clocked_out >= t.clocked_in THEN ((extract(epoch FROM t.clocked_out - t.clocked_in) * 1000)::bigint - CASE WHEN t.breaks = '[]' THEN 0 ELSE (
    SELECT coalesce(sum(greatest(0, (extract(epoch FROM ended - greatest(started, coalesce(reached, started))) * 1000)::bigint)), 0) FROM (
      SELECT started, ended, max(ended) OVER (
        ORDER BY started, ended ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
      ) AS reached FROM (
        SELECT
          greatest(t.clocked_in, (b.value->>'in')::timestamptz) AS started,
          least(t.clocked_out, coalesce((b.value->>'out')::timestamptz, t.clocked_out)) AS ended
        FROM jsonb_array_elements(t.breaks) AS b(value) WHERE NOT (b.value->>'paid')::boolean AND NOT coalesce((b.value->>'deleted')::boolean, false)
      ) AS clipped WHERE ended > started
    ) AS ordered
  ) END)::double precision / 3600000 END AS hours_worked
FROM time_punches AS t WHERE NOT t.deleted AND t.missing_at IS NULL;

CREATE VIEW time_punches_breaks AS SELECT
  t.company_id,
  t.id AS time_punch_id,
  b.place,
  (b.value->>'id')::bigint AS id,
  (b.value->>'user_id')::bigint AS user_id,
  (b.value->>'custom_break_id')::bigint AS custom_break_id,
  (b.value->>'paid')::boolean AS paid,
  (b.value->>'in')::timestamptz AS break_in,
  (b.value->>'out')::timestamptz AS break_out
FROM time_punches AS t, jsonb_array_elements(t.breaks) WITH ORDINALITY AS b(value, place) WHERE NOT t.deleted AND t.missing_at IS NULL AND NOT coalesce((b.value->>'deleted')::boolean, false);

DO $do$ BEGIN
EXECUTE (SELECT format($format$CREATE FUNCTION time_punches_row_removed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE %1$I.time_punches_sync SET known_since = NULL WHERE known_since IS NOT NULL AND (TG_OP = 'TRUNCATE' OR company_id = OLD.company_id);
  RETURN NULL;
END $$
$format$, n.nspname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = 'time_punches'::regclass);
END $do$;

CREATE TRIGGER time_punches_row_removed AFTER DELETE ON time_punches FOR EACH ROW EXECUTE FUNCTION time_punches_row_removed();

CREATE TRIGGER time_punches_table_emptied AFTER TRUNCATE ON time_punches FOR EACH STATEMENT EXECUTE FUNCTION time_punches_row_removed();

CREATE TABLE time_punches_close (
  company_id bigint NOT NULL,
  close_id bigint NOT NULL,
  terms text NOT NULL,
  PRIMARY KEY (company_id, close_id)
);

CREATE TABLE time_punches_close_state (
  company_id bigint NOT NULL,
  close_id bigint NOT NULL,
  number bigint NOT NULL,
  before bigint,
  kind text NOT NULL,
  at timestamptz NOT NULL,
  closed_at timestamptz NOT NULL,
  user_name text NOT NULL,
  note text NOT NULL,
  accepted text NOT NULL,
  added text NOT NULL,
  release text NOT NULL,
  rules bigint NOT NULL,
  token text NOT NULL,
  PRIMARY KEY (company_id, close_id, number)
);

CREATE TABLE time_punches_close_row (
  company_id bigint NOT NULL,
  close_id bigint NOT NULL,
  number bigint NOT NULL,
  place bigint NOT NULL,
  user_id bigint NOT NULL,
  location_id bigint NOT NULL,
  department_id bigint,
  role_id bigint NOT NULL,
  hourly_wage bigint NOT NULL,
  punches bigint NOT NULL,
  incomplete bigint NOT NULL,
  net_ms bigint NOT NULL,
  cost_cents bigint NOT NULL,
  tips_cents bigint NOT NULL,
  over_ms bigint,
  double_ms bigint,
  PRIMARY KEY (company_id, close_id, number, place)
);

CREATE TABLE time_punches_close_file (
  company_id bigint NOT NULL,
  close_id bigint NOT NULL,
  number bigint NOT NULL,
  place bigint NOT NULL,
  noted_at timestamptz NOT NULL,
  user_name text NOT NULL,
  mapping text NOT NULL,
  mapping_hash text NOT NULL,
  codes text NOT NULL,
  codes_hash text NOT NULL,
  token text NOT NULL,
  PRIMARY KEY (company_id, close_id, number, place)
);

DO $do$ BEGIN
EXECUTE (SELECT format($format$CREATE FUNCTION time_punches_erase_closes() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  DELETE FROM %1$I.time_punches_close WHERE company_id = OLD.company_id;
  DELETE FROM %1$I.time_punches_close_state WHERE company_id = OLD.company_id;
  DELETE FROM %1$I.time_punches_close_row WHERE company_id = OLD.company_id;
  DELETE FROM %1$I.time_punches_close_file WHERE company_id = OLD.company_id;
  RETURN NULL;
END $$
$format$, n.nspname) FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace WHERE c.oid = 'time_punches'::regclass);
END $do$;

REVOKE EXECUTE ON FUNCTION time_punches_erase_closes() FROM PUBLIC;

CREATE TRIGGER time_punches_erase_closes AFTER DELETE ON time_punches_sync FOR EACH ROW EXECUTE FUNCTION time_punches_erase_closes();

INSERT INTO time_punches_migrations (migration_id, name) VALUES (10, 'tables') ON CONFLICT (migration_id) DO NOTHING;
