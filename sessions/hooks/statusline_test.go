package hooks

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestStatusLineRoundTrip: Umbra's status line goes beside what is there, and
// away again to the byte; the user's own stays.
func TestStatusLineRoundTrip(t *testing.T) {
	const key, command = "statusLine", "/opt/bin/umbra status --statusline"
	for _, in := range []string{
		`{"hooks":{"Stop":[]}}`, "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n", "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {}\r\n}", `{"model": "x"}`,
	} {
		out, theirs, err := AddStatusLine([]byte(in), key, command)
		if err != nil || theirs {
			t.Fatalf("%q: %v, %t", in, err, theirs)
		}
		var said struct {
			StatusLine struct {
				Type, Command   string
				RefreshInterval int
			}
		}
		if err := json.Unmarshal(out, &said); err != nil || said.StatusLine.Type != "command" || said.StatusLine.Command != command || said.StatusLine.RefreshInterval != 30 {
			t.Errorf("%q became %s, %v", in, out, err)
		}
		if again, _, err := AddStatusLine(out, key, command); err != nil || !bytes.Equal(again, out) {
			t.Errorf("added twice: %s, %v", again, err)
		}
		moved, _, err := AddStatusLine(out, key, "'/my bin/umbra' status --statusline")
		if err != nil || bytes.Contains(moved, []byte("/opt/bin")) {
			t.Errorf("another umbra's: %s, %v", moved, err)
		}
		for _, added := range [][]byte{out, moved} {
			if back, err := DropStatusLine(added, key); err != nil || string(back) != in {
				t.Errorf("%q came back as %q, %v", in, back, err)
			}
		}
	}
	for in, want := range map[string]string{ // what was once written, and an interval of the user's own
		`{"statusLine":{"type":"command","command":"umbra status --statusline"}}`:                                             `{"statusLine":{"type":"command","command":"/opt/bin/umbra status --statusline","refreshInterval":30}}`,
		`{"statusLine":{"type":"command","command":"umbra status --statusline","refreshInterval":5}}`:                         `{"statusLine":{"type":"command","command":"/opt/bin/umbra status --statusline","refreshInterval":5}}`,
		"{\n  \"statusLine\": {\n    \"command\": \"/opt/bin/umbra status --statusline\",\n    \"type\": \"command\"\n  }\n}": "{\n  \"statusLine\": {\n    \"command\": \"/opt/bin/umbra status --statusline\",\n    \"type\": \"command\",\n    \"refreshInterval\": 30\n  }\n}",
	} {
		if out, theirs, err := AddStatusLine([]byte(in), key, command); err != nil || theirs || string(out) != want {
			t.Errorf("%s became %s, %t, %v", in, out, theirs, err)
		}
	}
	for _, in := range []string{
		`{"statusLine":{"type":"command","command":"mine"}}`, `{"statusLine":null}`, `{"statusLine":{"type":"command","command":"mine; umbra status --statusline"}}`,
		`{"statusLine":{"type":"command","command":"umbra status --statusline","padding":2}}`,
	} {
		out, theirs, err := AddStatusLine([]byte(in), key, command)
		if err != nil || !theirs || string(out) != in {
			t.Errorf("%s became %s, %t, %v", in, out, theirs, err)
		}
		if back, err := DropStatusLine([]byte(in), key); err != nil || string(back) != in {
			t.Errorf("%s became %s, %v", in, back, err)
		}
	}
	for _, in := range []string{"", "[]", "{"} {
		if _, _, err := AddStatusLine([]byte(in), key, command); err == nil {
			t.Errorf("added to %q", in)
		}
		if _, err := DropStatusLine([]byte(in), key); err == nil {
			t.Errorf("taken out of %q", in)
		}
	}
}
