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
		`{"env":{"A":"hush","B":2,"C":true},"model":"m"}`:                                           `{"env":{"A":"","B":"","C":true},"model":"m"}`,
		`{"hooks":{"x":[{"headers":{"Authorization":"Bearer hush"}}]}}`:                             `{"hooks":{"x":[{"headers":{"Authorization":""}}]}}`,
		`{"apiKeyHelper":"cmd","proxyPassword":"hush","keys":1}`:                                    `{"apiKeyHelper":"cmd","proxyPassword":"","keys":1}`,
		`{"awsCredentialExport":"cmd","maxTokensShown":5,"token":true}`:                             `{"awsCredentialExport":"cmd","maxTokensShown":5,"token":true}`,
		`{"credentials":{"x":["hush",{"y":"hush"},1]}}`:                                             `{"credentials":{"x":["",{"y":""},1]}}`,
		`{"mcpServers":{"s":{"args":["--key","hush"],"trust":true}},  "ui":{} }`:                    `{"mcpServers":{"s":{"args":["",""],"trust":true}},  "ui":{} }`,
		`{"mcp":{"s":{"url":"https://x/?k=hush","enabled":false}},"mcpx":"kept"}`:                   `{"mcp":{"s":{"url":"","enabled":false}},"mcpx":"kept"}`,
		`{"a":"x\nghp_` + drawn + `\" y",  "b":[ "https://u:` + drawn + `@h" ]}`:                    `{"a":"x\n[umbra-left-out:github-token]\" y",  "b":[ "https://u:[umbra-left-out:password]@h" ]}`,
		`{"hooks":[{"command":"curl -H 'Authorization: Bearer ` + drawn + `' h"}]}`:                 `{"hooks":[{"command":"curl -H 'Authorization: Bearer [umbra-left-out:secret]' h"}]}`,
		`{"license_key":"` + drawn + `","keys":"ctrl+k"}`:                                           `{"license_key":"[umbra-left-out:secret]","keys":"ctrl+k"}`,
		`{"headers":["Authorization: Basic aDpo","A:b","hush"],"x":{"http_headers":"X-Key: hush"}}`: `{"headers":["Authorization: Basic [umbra-left-out:setting]","A:[umbra-left-out:setting]","[umbra-left-out:setting]"],"x":{"http_headers":"X-Key: [umbra-left-out:setting]"}}`,
		`{"s":{"env":["A=hush","B"],"environment":"test"},"environment":"a:b"}`:                     `{"s":{"env":["A=[umbra-left-out:setting]","B"],"environment":"test"},"environment":"a:b"}`,
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
// same keys, without regard to other changes; in a list, where nothing else has changed.
func TestRestoreSettings(t *testing.T) {
	other := strings.Repeat("b8Lr3Yw0", 5)
	text := func(secret, more string) string {
		return `{"h":{"c":"run\t--token ` + secret + `"` + more + `}}`
	}
	list := func(url, secret string) string {
		return `{"h":[{"url":"` + url + `","headers":["X-Key: ` + secret + `"]}]}`
	}
	const left = "[umbra-left-out:secret]"
	for name, tt := range map[string]struct {
		then, now, want string
		missing         int
	}{
		"nothing left out": {`{"a":1}`, text(drawn, ""), `{"a":1}`, 0},
		"the same":         {text(drawn, ""), text(drawn, ""), text(drawn, ""), 0},
		"another secret":   {text(drawn, ""), `{"new": 1, "h": {"b":"x", "c":"run\u0009--token ` + other + `"} }`, `{"h":{"c":"run\u0009--token ` + other + `"}}`, 0},
		"another text":     {text(drawn, ""), strings.Replace(text(drawn, ""), "run", "go", 1), text(left, ""), 1},
		"other keys":       {text(drawn, ""), strings.Replace(text(drawn, ""), `"h"`, `"i"`, 1), text(left, ""), 1},
		"a list now":       {text(drawn, ""), `{"h":[{"c":"run\t--token ` + drawn + `"}]}`, text(left, ""), 1},
		"none":             {text(drawn, ""), "", text(left, ""), 1},
		"a list":           {list("https://a", "x"), `{"new":1,"h":` + list("https://a", "y")[len(`{"h":`):], list("https://a", "y"), 0},
		"another's list":   {list("https://a", "x"), list("https://b", "y"), list("https://a", "[umbra-left-out:setting]"), 1},
		"moved in a list":  {`{"headers":["A: x","B: y"]}`, `{"headers":["B: 2","A: 1"]}`, `{"headers":["A: [umbra-left-out:setting]","B: [umbra-left-out:setting]"]}`, 2},
		"indented":         {" " + `{"h":[{"c":"a && b","env":{"A":"x"}}]}`, "\n" + `{"h": [ {"c":"a \u0026\u0026 b", "env":{"A":"y"}} ]}`, " " + `{"h":[ {"c":"a \u0026\u0026 b", "env":{"A":"y"}} ]}`, 0},
		"values":           {" " + `{"token":"x","env":{"A":1,"B":"y"}}`, "\n" + `{"env":{"A":2},"token":"z"}`, " " + `{"token":"z","env":{"A":2,"B":""}}`, 1},
		"a value for one":  {`{"credentials":["x"]}`, `{"credentials":"y"}`, `{"credentials":[""]}`, 1},
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
