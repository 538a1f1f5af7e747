package fields

import (
	"io"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

type base struct {
	ID string `json:"id"`
}

type result struct {
	base
	Name  string  `json:"name"`
	Count int64   `json:"count"`
	Note  string  `json:"note,omitempty"`
	Sub   []base  `json:"sub"`
	Float float64 `json:"float"`
}

func TestWrite(t *testing.T) {
	one := result{base: base{"a1"}, Name: "login", Count: 9007199254740993, Sub: []base{{"x"}, {"y"}}}
	list := []result{one, {Name: "two\nlines", Note: "n"}}
	for _, c := range []struct {
		fields    string
		result    any
		want, err string
	}{
		{"", base{"x"}, "{\n  \"id\": \"x\"\n}\n", ""},
		{"name,count", one, "{\n  \"name\": \"login\",\n  \"count\": 9007199254740993\n}\n", ""},
		{" id , note", list[:1], "[\n  {\n    \"id\": \"a1\",\n    \"note\": null\n  }\n]\n", ""},
		{"name", []result{}, "[]\n", ""},
		{"nmae", []result{}, "", `no field "nmae" here`},
		{"name,", one, "", `no field "" here`},
		{"b", map[string]int{"a": 1}, "", `no field "b" here`},
		{"name", "text", "", "has no fields"},
	} {
		var out strings.Builder
		var f Fields
		if c.fields != "" {
			f = Parse(c.fields)
		}
		err := f.Write(&out, c.result)
		if c.err == "" && (err != nil || out.String() != c.want) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("--json=%s writes %q, %v; want %q, %s", c.fields, out.String(), err, c.want, c.err)
		}
		if all := new(strings.Builder); c.err != "" && (Fields(nil).Write(all, c.result) != nil || out.String() != all.String()) {
			t.Errorf("--json=%s writes %q beside its error, want all", c.fields, out.String())
		}
		if err != nil && missions.AsError(err).Kind != missions.KindUsage {
			t.Errorf("--json=%s is an error of kind %s", c.fields, missions.AsError(err).Kind)
		}
	}
}

// TestKnownFields are named where a field is unknown, those that are left out here too.
func TestKnownFields(t *testing.T) {
	err := Parse("x").Write(io.Discard, []*result{{}})
	if hint := missions.AsError(err).Hint; hint != "use some of: count, float, id, name, note, sub" {
		t.Errorf("the hint is %q", hint)
	}
}
