package jsontext

import (
	"strings"
	"testing"
)

// drawn looks like a secret, and is none.
var drawn = strings.Repeat("a7Kq2Zx9", 5)

// TestCleanSettings: no value that may be a secret is kept, in whatever agent's
// settings, and all else is, to the byte.
func TestCleanSettings(t *testing.T) {
	for in, want := range map[string]string{
		`{"env":{"A":"hush","B":2,"C":true},"model":"m"}`:                           `{"env":{"A":"","B":"","C":true},"model":"m"}`,
		`{"hooks":{"x":[{"headers":{"Authorization":"Bearer hush"}}]}}`:             `{"hooks":{"x":[{"headers":{"Authorization":""}}]}}`,
		`{"apiKeyHelper":"cmd","proxyPassword":"hush","keys":1}`:                    `{"apiKeyHelper":"cmd","proxyPassword":"","keys":1}`,
		`{"awsCredentialExport":"cmd","maxTokensShown":5,"token":true}`:             `{"awsCredentialExport":"cmd","maxTokensShown":5,"token":true}`,
		`{"credentials":{"x":["hush",{"y":"hush"},1]}}`:                             `{"credentials":{"x":["",{"y":""},1]}}`,
		`{"mcpServers":{"s":{"args":["--key","hush"],"trust":true}},  "ui":{} }`:    `{"mcpServers":{"s":{"args":["",""],"trust":true}},  "ui":{} }`,
		`{"mcp":{"s":{"url":"https://x/?k=hush","enabled":false}},"mcpx":"kept"}`:   `{"mcp":{"s":{"url":"","enabled":false}},"mcpx":"kept"}`,
		`{"a":"x\nghp_` + drawn + `\" y",  "b":[ "https://u:` + drawn + `@h" ]}`:    `{"a":"x\n[umbra-left-out:github-token]\" y",  "b":[ "https://u:[umbra-left-out:password]@h" ]}`,
		`{"hooks":[{"command":"curl -H 'Authorization: Bearer ` + drawn + `' h"}]}`: `{"hooks":[{"command":"curl -H 'Authorization: Bearer [umbra-left-out:secret]' h"}]}`,
		`{"license_key":"` + drawn + `","keys":"ctrl+k"}`:                           `{"license_key":"[umbra-left-out:secret]","keys":"ctrl+k"}`,
		"": "",
	} {
		got, err := CleanSettings("settings.json", []byte(in))
		if err != nil || string(got) != want {
			t.Errorf("%s: %s, %v", in, got, err)
		}
	}
	for _, in := range []string{`{"env": hush}`, `{"a":1} // a comment with hush`} {
		if got, err := CleanSettings("settings.json", []byte(in)); err == nil {
			t.Errorf("settings that can't be read are kept: %s", got)
		}
	}
	for _, name := range []string{"AGENTS.md", "skills/s/data.json"} {
		const text = "env: {token}"
		if got, err := CleanSettings(name, []byte(text)); err != nil || string(got) != text {
			t.Errorf("%s: %s, %v", name, got, err)
		}
	}
}

// TestRestoreSettings: what was left out comes back where the same text is under the
// same keys, without regard to other changes, and where it is clear which.
func TestRestoreSettings(t *testing.T) {
	other := strings.Repeat("b8Lr3Yw0", 5)
	text := func(secret, more string) string { return `{"h":[{"c":"run\t--token ` + secret + `"}` + more + `]}` }
	const left = "[umbra-left-out:secret]"
	for name, tt := range map[string]struct {
		then, now, want string
		missing         int
	}{
		"nothing left out": {`{"a":1}`, text(drawn, ""), `{"a":1}`, 0},
		"the same":         {text(drawn, ""), text(drawn, ""), text(drawn, ""), 0},
		"another secret":   {text(drawn, ""), `{"new": 1, "h": [ {"c":"x"}, {"c":"run\u0009--token ` + other + `"} ]}`, `{"h":[{"c":"run\u0009--token ` + other + `"}]}`, 0},
		"another text":     {text(drawn, ""), strings.Replace(text(drawn, ""), "run", "go", 1), text(left, ""), 1},
		"other keys":       {text(drawn, ""), strings.Replace(text(drawn, ""), `"h"`, `"i"`, 1), text(left, ""), 1},
		"which of two":     {text(drawn, ""), text(drawn, `,{"c":"run\t--token `+other+`"}`), text(left, ""), 1},
		"none":             {text(drawn, ""), "", text(left, ""), 1},
	} {
		kept, err := CleanSettings("settings.json", []byte(tt.then))
		if err != nil {
			t.Fatal(err)
		}
		got, missing, err := RestoreSettings(kept, []byte(tt.now))
		if err != nil || string(got) != tt.want || missing != tt.missing {
			t.Errorf("%s: %d missing of %s, %v", name, missing, got, err)
		}
	}
}
