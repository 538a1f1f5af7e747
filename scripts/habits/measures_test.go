package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

func TestMeasures(t *testing.T) {
	var methods, fields, tagged strings.Builder
	for i := range 46 {
		fmt.Fprintf(&methods, "func (t *T[K]) m%d() {}\n", i)
		fmt.Fprintf(&fields, "\tf%d int\n", i)
		fmt.Fprintf(&tagged, "\tF%d int `json:\"f%d\"`\n", i, i)
	}
	for name, c := range map[string]struct {
		text     string
		ceilings []ceiling
		want     []string
	}{
		"methods":   {"type T[K any] struct{}\n" + methods.String(), nil, []string{"a.T methods: 46, over 45"}},
		"fields":    {"type t struct {\n" + fields.String() + "}\n", nil, []string{"a.t fields: 46, over 15"}},
		"documents": {"type t struct {\n" + tagged.String() + "}\ntype MakeOptions struct {\n" + fields.String() + "}\n", nil, nil},
		"ceiling":   {"type t struct {\n" + fields.String() + "}\n", []ceiling{{"a.t fields", 46, "why"}}, nil},
		"over":      {"type t struct {\n" + fields.String() + "}\n", []ceiling{{"a.t fields", 45, "why"}}, []string{"a.t fields: 46, over 45"}},
		"lower":     {"type t struct {\n" + fields.String() + "}\n", []ceiling{{"a.t fields", 60, "why"}}, []string{"lower its ceiling of 60"}},
		"needless":  {"type t struct{ a int }\n", []ceiling{{"a.t fields", 20, "why"}}, []string{"a.t fields: 1, which is within the measure"}},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "a/a.go"), "// Package a is.\npackage a\n\n"+c.text)
			got, err := run(dir, c.ceilings)
			if err != nil {
				t.Fatal(err)
			}
			if len(got) != len(c.want) {
				t.Fatalf("run = %q, want %q", got, c.want)
			}
			for i, want := range c.want {
				if !strings.Contains(got[i], want) {
					t.Errorf("run = %q, want %q", got[i], want)
				}
			}
		})
	}
}
