package jsontext

import "testing"

// TestCleanSettings: no value that may be a secret is kept, in whatever agent's
// settings, and all else is, to the byte.
func TestCleanSettings(t *testing.T) {
	for in, want := range map[string]string{
		`{"env":{"A":"hush","B":2,"C":true},"model":"m"}`:                         `{"env":{"A":"","B":"","C":true},"model":"m"}`,
		`{"hooks":{"x":[{"headers":{"Authorization":"Bearer hush"}}]}}`:           `{"hooks":{"x":[{"headers":{"Authorization":""}}]}}`,
		`{"apiKeyHelper":"cmd","proxyPassword":"hush","keys":1}`:                  `{"apiKeyHelper":"cmd","proxyPassword":"","keys":1}`,
		`{"awsCredentialExport":"cmd","maxTokensShown":5,"token":true}`:           `{"awsCredentialExport":"cmd","maxTokensShown":5,"token":true}`,
		`{"credentials":{"x":["hush",{"y":"hush"},1]}}`:                           `{"credentials":{"x":["",{"y":""},1]}}`,
		`{"mcpServers":{"s":{"args":["--key","hush"],"trust":true}},  "ui":{} }`:  `{"mcpServers":{"s":{"args":["",""],"trust":true}},  "ui":{} }`,
		`{"mcp":{"s":{"url":"https://x/?k=hush","enabled":false}},"mcpx":"kept"}`: `{"mcp":{"s":{"url":"","enabled":false}},"mcpx":"kept"}`,
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
