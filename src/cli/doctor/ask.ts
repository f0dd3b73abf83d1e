/** The requests that only a real account can answer, to be copied into a shell, with what each answer means here. */

/** A secret comes by standard input: other users of the machine see arguments. */
export const questions = `# Eight requests that only a real account can answer, for a shell. doctor sends none of them.
# Each needs the settings of a client: time-punches help environment.
token() { curl -sSi "\${TIME_PUNCHES_AUTH_URL:-$TIME_PUNCHES_BASE_URL}/oauth2/token" -d grant_type=client_credentials \\
  -d client_id="$TIME_PUNCHES_CLIENT_ID" -d scope=time_punches:read --data-urlencode client_secret@-; }
list() { printf 'authorization: Bearer %s' "$TOKEN" | curl -gsSi -H @- -H "x-company-guid: $TIME_PUNCHES_COMPANY_GUID" \\
  -H "x-api-version: $VERSION" "$TIME_PUNCHES_BASE_URL/v2/company/$TIME_PUNCHES_COMPANY_ID/time_punches?$1"; }

# 1. A wrong secret. JSON with invalid_client or invalid_credentials, whatever the status: a command exits with 4.
#    A status from 500 without such a code looks like an outage, and is tried again: report it.
printf wrong | token
# 2. A token with the read scope alone, for the others. A 403 to the next one: set TIME_PUNCHES_SCOPES to what it names.
printf %s "$TIME_PUNCHES_CLIENT_SECRET" | token; read -rsp 'access_token: ' TOKEN
# 3. Deleted punches and others alike. Rows of both kinds: right. 400 or 422: commands send what 4 sends.
#    No deleted row, and list 'deleted=true' has some: it hides them. A sync finds that out; sweep older copies.
list 'deleted=null&limit=200'
# 4. The other spelling. 400 or 422 as well: no single listing has both kinds.
list 'include_deleted=true&limit=200'
# 5. An old version. 422: it is refused. 200: x-api-version names what answered, and commands warn if that is another one.
#    Before 2023 tips are in whole units: payroll check and close then refuse, unless the old version was set.
VERSION=2020-01-01 list 'limit=1'
# 6. The largest page. 422: set TIME_PUNCHES_PAGE_SIZE to what doctor finds. Fewer rows and a next cursor: nothing to set.
list 'limit=200'
# 7. A break that you removed from a punch before, by its clock-in. "deleted": true, or no such break: it is not subtracted.
#    Still there without it: hours are too short, report it. The same modified as before: only a sweep finds the edit.
list 'clocked_in[gte]=2026-03-02T14:00:00Z&clocked_in[lte]=2026-03-02T14:00:59Z'
# 8. A salaried person, by the id. hourly_wage is not cents an hour: check and close say wageFar if it is far above others.
#    Give --max-wage where it is not.
list 'user_id=501&limit=1'`
