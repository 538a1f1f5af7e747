package jsontext

import (
	"strings"
	"testing"
)

// TestReplace replaces what is picked, and leaves every other byte.
func TestReplace(t *testing.T) {
	blank := func(picked func(path []string) bool) func([]string, []byte) []byte {
		return func(path []string, _ []byte) []byte {
			if picked(path) {
				return []byte(`""`)
			}
			return nil
		}
	}
	const in = ` { "a" : 1, "s":{ "k" : "v" , "n":[ {"k":{"deep":true}}, 2 ] }, "k": [ "x" ] } ` + "\n"
	out, err := Replace([]byte(in), blank(func(path []string) bool { return path[len(path)-1] == "k" }))
	const want = ` { "a" : 1, "s":{ "k" : "" , "n":[ {"k":""}, 2 ] }, "k": "" } ` + "\n"
	if err != nil || string(out) != want {
		t.Errorf("%s, %v", out, err)
	}
	out, err = Replace([]byte(in), blank(func(path []string) bool { return strings.Join(path, "/") == "s/n/k" }))
	if err != nil || strings.Count(string(out), `""`) != 1 {
		t.Errorf("%s, %v", out, err)
	}
	if out, err := Replace([]byte("{}"), blank(func([]string) bool { return true })); err != nil || string(out) != "{}" {
		t.Errorf("%s, %v", out, err)
	}
	for _, bad := range []string{"", "[]", `{"a":1`, `{"a":1} x`, `"a"`, "// c\n{}"} {
		if out, err := Replace([]byte(bad), blank(func([]string) bool { return true })); err == nil {
			t.Errorf("%q became %q", bad, out)
		}
	}
}

// TestSetMember replaces, adds and takes out one member.
func TestSetMember(t *testing.T) {
	for _, tt := range []struct{ in, value, want string }{
		{`{"a":1,"b":2}`, `{"x":3}`, `{"a":{"x":3},"b":2}`},
		{`{"b":2}`, `3`, `{"a":3,"b":2}`},
		{`{"a":1}`, "", `{}`},
	} {
		var value []byte
		if tt.value != "" {
			value = []byte(tt.value)
		}
		out, err := SetMember([]byte(tt.in), "a", value)
		if got := strings.Join(strings.Fields(string(out)), ""); err != nil || got != tt.want {
			t.Errorf("%s with %s: %s, %v", tt.in, tt.value, got, err)
		}
	}
	for _, bad := range []string{"null", "[]", "x"} {
		if _, err := SetMember([]byte(bad), "a", nil); err == nil {
			t.Errorf("%s is an object", bad)
		}
	}
}
