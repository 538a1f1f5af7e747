package jsontext

import (
	"slices"
	"strings"
	"testing"
)

// TestRedactCommand: nothing of a secret that a command line holds is kept, and all else is.
func TestRedactCommand(t *testing.T) {
	drawn := strings.Repeat("a7Kq2Zx9", 5)
	key := "sk-ant-api03-" + drawn
	const look, anthropic = "[umbra-left-out:secret]", "[umbra-left-out:anthropic-key]"
	for _, tt := range []struct{ command, want []string }{
		{[]string{"claude", "--model", "opus", "--max-tokens", "4096", "fix the token: it is late"}, nil},
		{[]string{"make", "KEY=value", "-j", "4", "TOKEN_FILE=/run/x", "--password-file", "/run/y"}, nil},
		{[]string{"claude", "--settings", `{"model":"opus", "permissions":{"allow":["Bash"]}}`}, nil},
		{[]string{"claude", "--settings", "../x.json", "--", "-p"}, nil},
		{[]string{"codex", "-c", "model_max_output_tokens=4096", "-c", "model=o3"}, nil},
		{
			[]string{"claude", "--settings", `{"model":"opus","env":{"ANTHROPIC_API_KEY":"` + key + `","A":"b"}}`},
			[]string{"claude", "--settings", `{"model":"opus","env":{"ANTHROPIC_API_KEY":"` + leftOut + `","A":"` + leftOut + `"}}`},
		},
		{
			[]string{"claude", `--settings={"proxyPassword":"hunter2","n":"https://a:hunter2@host"}`},
			[]string{"claude", `--settings={"proxyPassword":"` + leftOut + `","n":"https://a:[umbra-left-out:password]@host"}`},
		},
		{
			[]string{"codex", "-c", "model_providers.x.experimental_bearer_token=hunter2", "-c", `mcp_servers.s.env={A="hunter2"}`},
			[]string{"codex", "-c", "model_providers.x.experimental_bearer_token=" + leftOut, "-c", "mcp_servers.s.env=" + leftOut},
		},
		{[]string{"env", "DB_PASSWORD=hunter2", "PATH=/bin", "agent"}, []string{"env", "DB_PASSWORD=" + leftOut, "PATH=/bin", "agent"}},
		{[]string{"agent", "--api-key", "hunter2", "--key", drawn, "-u", "me:s3cretPass9"}, []string{"agent", "--api-key", leftOut, "--key", look, "-u", "me:[umbra-left-out:password]"}},
		{[]string{"agent", "--api-key=" + drawn, "-H", "X-Api-Key: " + drawn}, []string{"agent", "--api-key=" + leftOut, "-H", "X-Api-Key: " + leftOut}},
		{[]string{"sh", "-c", "export A_TOKEN=" + drawn + "; agent"}, []string{"sh", "-c", "export A_TOKEN=" + look + "; agent"}},
		{[]string{"agent", key}, []string{"agent", anthropic}},
		{
			[]string{"agent", "--env", `{"A":"hunter2"}`, "-c", `env={"A":"hunter2"}`, "--headers", `{"X-A":"hunter2"}`, "--env", key, "--set", key},
			[]string{"agent", "--env", `{"A":"` + leftOut + `"}`, "-c", `env={"A":"` + leftOut + `"}`, "--headers", `{"X-A":"` + leftOut + `"}`, "--env", anthropic, "--set", anthropic},
		},
		{[]string{"agent", "--token-limit", "200000", "--max-token=4096", "TOKEN_BUDGET=32000", "--use-secrets", "1", "--password", "-v", "--api-key", "--verbose", "--password", "--pass-fd=3"}, nil},
		{[]string{"env", "API_KEY=1234567890123456", "--password", "1234", "--api-key=123456"}, []string{"env", "API_KEY=" + leftOut, "--password", leftOut, "--api-key=" + leftOut}},
		{[]string{"agent", "--token=12345678", "--token", "12345678"}, []string{"agent", "--token=" + leftOut, "--token", leftOut}},
		{[]string{"agent", "--password", "-hunter2", "--api-key=-hunter2", "--token", "-" + drawn, "A_TOKEN=-v"}, []string{"agent", "--password", leftOut, "--api-key=" + leftOut, "--token", leftOut, "A_TOKEN=" + leftOut}},
		{[]string{"agent", "--api-key", "dXNlcjpwYXNz==", "--api-key", "a=hunter2"}, []string{"agent", "--api-key", leftOut, "--api-key", leftOut}},
		{[]string{"curl", "-H", "Accept: text/html", "--header", "X-Token-Count", "-H", "token", "-Hx", "--header=A: b", "--headers", "a:b"}, nil},
		{
			[]string{"curl", "--header", "Authorization: Basic dXNlcjpwYXNz", "-H", "authorization:hunter2", "-HX-Api-Key: hunter2", "--header=Cookie: a=hunter2"},
			[]string{"curl", "--header", "Authorization: Basic " + leftOut, "-H", "authorization:" + leftOut, "-HX-Api-Key: " + leftOut, "--header=Cookie: " + leftOut},
		},
		{[]string{"codex", "-c", `tools={web_search=true, view_image={a=1}}`, "--config=model_reasoning_effort=high", "-c", `notify=["sh", "-c", "x=1"]`, "-c", `mcpx."a.b".d=1`}, nil},
		{
			[]string{"codex", "-c", `mcp_servers.x.env={TOKEN="hunter2"}`, `--config=mcp_servers.x.env={TOKEN="hunter2"}`, "-c=mcp_servers.x.env.A=hunter2", "--config", `mcp_servers.x.env = { A = "hunter2" }`},
			[]string{"codex", "-c", "mcp_servers.x.env=" + leftOut, "--config=mcp_servers.x.env=" + leftOut, "-c=mcp_servers.x.env.A=" + leftOut, "--config", "mcp_servers.x.env =" + leftOut},
		},
		{
			[]string{"codex", "-c", `mcp_servers={x={command="y", env={A="hunter2"}}}`, "-c", `mcp_servers."a b.c".env={A='hunter2'}`, "-c", `model_providers.x={name="=", experimental_bearer_token = "hunter2"}`},
			[]string{"codex", "-c", "mcp_servers=" + leftOut, "-c", `mcp_servers."a b.c".env=` + leftOut, "-c", "model_providers.x=" + leftOut},
		},
		{
			[]string{"codex", "-c", `x=[{"http_headers"={A="hunter2"}}]`, "-c", `shell_environment_policy.set.A=hunter2`, "-c", `shell_environment_policy={set={A="hunter2"}}`},
			[]string{"codex", "-c", "x=" + leftOut, "-c", "shell_environment_policy.set.A=" + leftOut, "-c", "shell_environment_policy=" + leftOut},
		},
		{[]string{"claude", `--settings={"h":[{"command":"A_TOKEN=$(x) run"}]}`, "--settings", `{"environment":"https://h/?a=b"}`, "sh", "-c", `{ A="$A_TOKEN"; X_TOKEN="$A"; }`}, nil},
		{[]string{"claude", "--settings", `{"headers":["Authorization: Basic dXNlcjpwYXNz"]}`}, []string{"claude", "--settings", `{"headers":["Authorization: Basic ` + leftOut + `"]}`}},
		{
			[]string{"agent", "--passphrase", "hunter2", "--access-key", "hunter2", "--private-key=hunter2", "SSH_PASSPHRASE=hunter2", "--oauth2-bearer", "hunter2", "--password", "-hunter"},
			[]string{"agent", "--passphrase", leftOut, "--access-key", leftOut, "--private-key=" + leftOut, "SSH_PASSPHRASE=" + leftOut, "--oauth2-bearer", leftOut, "--password", leftOut},
		},
		{
			[]string{"curl", "-H", "X-Access-Key: hunter2", "-H", "X-Auth: hunter2", "-H", "Set-Cookie: a=hunter2", "-sH", "Authorization: hunter2", "-sHX-Key: hunter2", "-DHOST_TOKEN=a:hunter2"},
			[]string{"curl", "-H", "X-Access-Key: " + leftOut, "-H", "X-Auth: " + leftOut, "-H", "Set-Cookie: " + leftOut, "-sH", "Authorization: " + leftOut, "-sHX-Key: " + leftOut, "-DHOST_TOKEN=" + leftOut},
		},
		{
			[]string{"claude", "--settings", `{"env":{"A":"hunter2"},}`, `--settings={"env":{"A":"hunter2"}} // x`, "--settings", `[{'env':{'A':'hunter2'}}]`, `{"x":{"apiKey":"hunter2",}}`},
			[]string{"claude", "--settings", leftOut, "--settings=" + leftOut, "--settings", leftOut, leftOut},
		},
		{[]string{"claude", "--settings", `{"apiKeyHelper":"x","max_tokens":1,}`, "-p", "[auth] the token: late", "--passphrase-file", "x", "-sSL", "-H", "Sec-Fetch-Mode: x", "--public-key", "x"}, nil},
		{[]string{"sh", "-c", "export API_KEY=1234567890123457; curl -H 'Authorization: Basic bWU6aHVudGVyMg==' x"}, []string{"sh", "-c", "export API_KEY=" + look + "; curl -H 'Authorization: Basic " + look + "' x"}},
	} {
		before := slices.Clone(tt.command)
		want := tt.want
		if want == nil {
			want = before
		}
		got := RedactCommand(tt.command)
		if !slices.Equal(got, want) || !slices.Equal(tt.command, before) {
			t.Errorf("%q: %q", before, got)
		}
		if again := RedactCommand(got); !slices.Equal(again, got) {
			t.Errorf("%q, then %q", got, again)
		}
	}
}
