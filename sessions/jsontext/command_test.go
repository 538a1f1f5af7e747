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
		{[]string{"agent", "--api-key=" + drawn, "-H", "X-Api-Key: " + drawn}, []string{"agent", "--api-key=" + leftOut, "-H", "X-Api-Key: " + look}},
		{[]string{"sh", "-c", "export A_TOKEN=" + drawn + "; agent"}, []string{"sh", "-c", "export A_TOKEN=" + look + "; agent"}},
		{[]string{"agent", key}, []string{"agent", anthropic}},
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
