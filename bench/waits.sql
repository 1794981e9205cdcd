-- waits: what the sessions of pgbench are doing while they run, looked at fifty times a second; prints shares, the largest first.
CREATE TEMP TABLE waits (event text);
CREATE PROCEDURE pg_temp.look() LANGUAGE plpgsql AS $$
DECLARE
	seen bool := false;
BEGIN
	FOR n IN 1 .. 100000 LOOP
		INSERT INTO waits SELECT coalesce(wait_event, 'running') FROM pg_stat_activity
			WHERE application_name = 'pgbench' AND (state <> 'idle' OR wait_event IS DISTINCT FROM 'ClientRead');
		EXIT WHEN NOT FOUND AND (seen OR n > 25);
		seen := seen OR FOUND;
		COMMIT;
		PERFORM pg_sleep(0.02);
	END LOOP;
END
$$;
CALL pg_temp.look();
SELECT format('%s %s %%', event, round(100.0 * count(*) / sum(count(*)) OVER ())) FROM waits GROUP BY event ORDER BY count(*) DESC LIMIT 4;
