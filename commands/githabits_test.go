package commands

import "testing"

func TestGitHabits(t *testing.T) {
	for said, want := range map[string]gitHabits{
		"":                                            {},
		"core.pager\nless -S\x00":                     {pager: "less -S"},
		"core.pager\na\x00core.pager\nb\x00":          {pager: "b"},
		"core.pager\na\x00pager.log\nb -x\x00":        {pager: "b -x"},
		"core.pager\na\x00pager.log\nfalse\x00":       {pager: "a", unpaged: true},
		"core.pager\na\x00pager.log\x00":              {pager: "a"},
		"color.ui\nnever\x00":                         {color: "never"},
		"color.ui\nOFF\x00":                           {color: "never"},
		"color.ui\nauto\x00":                          {},
		"color.ui\ntrue\x00":                          {},
		"color.ui\nalways\x00color.diff\nfalse\x00":   {color: "never"},
		"color.diff\nalways\x00color.ui\nfalse\x00":   {color: "always"},
		"color.ui\nfalse\x00color.diff\nauto\x00":     {},
		"color.ui\nfalse\x00pager.log\nalways -x\x00": {color: "never", pager: "always -x"},
	} {
		if got := habitsOf(said, "pager.log"); got != want {
			t.Errorf("%q: %+v, want %+v", said, got, want)
		}
	}
}
