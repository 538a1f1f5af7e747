package hooks

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
)

// TestServerRoundTrip: Umbra's server goes beside what is there, and away again to the
// byte; the user's own stays.
func TestServerRoundTrip(t *testing.T) {
	t.Parallel()
	const key = "mcpServers"
	ours, moved := []string{"/opt/bin/umbra", "mcp"}, []string{"/my bin/umbra", "mcp"}
	for _, in := range []string{
		`{"hooks":{"Stop":[]}}`, "{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n", "{\r\n\t\"a\": 1,\r\n\t\"hooks\": {}\r\n}",
		`{"mcpServers":{"other":{"command":"x"}},"hooks":{}}`, `{"mcpServers":{},"hooks":{}}`,
		"{\n  \"mcpServers\": {\n    \"other\": {}\n  },\n  \"hooks\": {}\n}",
	} {
		out, theirs, err := AddServer([]byte(in), key, ours)
		if err != nil || theirs {
			t.Fatalf("%q: %v, %t", in, err, theirs)
		}
		var said struct {
			Servers map[string]struct {
				Command string
				Args    []string
			} `json:"mcpServers"`
		}
		if err := json.Unmarshal(out, &said); err != nil || said.Servers["umbra"].Command != ours[0] || !slices.Equal(said.Servers["umbra"].Args, ours[1:]) {
			t.Errorf("%q became %s, %v", in, out, err)
		}
		if again, _, err := AddServer(out, key, ours); err != nil || !bytes.Equal(again, out) {
			t.Errorf("added twice: %s, %v", again, err)
		}
		other, _, err := AddServer(out, key, moved)
		if err != nil || bytes.Contains(other, []byte("/opt/bin")) {
			t.Errorf("another umbra's: %s, %v", other, err)
		}
		for _, added := range [][]byte{out, other} {
			if back, err := DropServer(added, key); err != nil || string(back) != in {
				t.Errorf("%q came back as %q, %v", in, back, err)
			}
		}
	}
	for _, in := range []string{
		`{"mcpServers":{"umbra":{"command":"mine"}}}`, `{"mcpServers":null}`, `{"mcpServers":{"umbra":null}}`,
		`{"mcpServers":{"umbra":{"command":"umbra","args":["mcp"],"env":{}}}}`, `{"mcpServers":{"umbra":{"command":"umbra","args":["mcp","--x"]}}}`,
	} {
		out, theirs, err := AddServer([]byte(in), key, ours)
		if err != nil || !theirs || string(out) != in {
			t.Errorf("%s became %s, %t, %v", in, out, theirs, err)
		}
		if back, err := DropServer([]byte(in), key); err != nil || string(back) != in {
			t.Errorf("%s became %s, %v", in, back, err)
		}
	}
	for _, in := range []string{"", "[]", "{"} {
		if _, _, err := AddServer([]byte(in), key, ours); err == nil {
			t.Errorf("added to %q", in)
		}
		if _, err := DropServer([]byte(in), key); err == nil {
			t.Errorf("taken out of %q", in)
		}
	}
}
