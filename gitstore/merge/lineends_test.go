package merge_test

import (
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/gitstore/merge"
	"github.com/umbra-vcs/umbra/gitstore/storetest"
)

// TestLineEnds: where a side has written a whole file with other line ends, what each has
// changed is merged line by line.
func TestLineEnds(t *testing.T) {
	t.Parallel()
	lf := lines(nil)
	mine, their, both := lines(map[int]string{1: "mine"}), lines(map[int]string{8: "theirs"}), lines(map[int]string{1: "mine", 8: "theirs"})
	other := lines(map[int]string{1: "theirs"})
	crlf := func(text string) string { return strings.ReplaceAll(text, "\n", "\r\n") }
	mixed := func(text string) string { return strings.Replace(text, "\n", "\r\n", 1) }
	attributes := "* text=auto\n"
	for _, c := range []struct {
		name               string
		base, ours, theirs string
		attributes         string // that theirs adds
		want               string
		conflicts          bool
	}{
		{name: "theirs has others", base: crlf(lf), ours: crlf(mine), theirs: their, want: crlf(both)},
		{name: "ours has others", base: crlf(lf), ours: mine, theirs: crlf(their), want: both},
		{name: "ours carries", base: lf, ours: crlf(mine), theirs: their, want: crlf(both)},
		{name: "both have others", base: crlf(lf), ours: mine, theirs: their, want: both},
		{name: "the base has both", base: mixed(lf), ours: mine, theirs: crlf(their), want: both},
		{name: "theirs changed these alone", base: crlf(lf), ours: crlf(mine), theirs: lf, want: mine},
		{name: "ours changed these alone", base: crlf(lf), ours: lf, theirs: crlf(their), want: their},
		{name: "both changed these alone", base: mixed(lf), ours: lf, theirs: crlf(lf), want: lf},
		{name: "theirs means them", base: crlf(lf), ours: crlf(mine), theirs: their, attributes: attributes, want: both},
		{name: "the same lines", base: crlf(lf), ours: crlf(mine), theirs: other, want: crlf(mine), conflicts: true},
		{name: "the same otherwise", base: crlf(lf), ours: crlf(mine), theirs: mine, want: crlf(mine)},
		{name: "added in each alike", ours: crlf(mine), theirs: mine, want: crlf(mine)},
		{name: "theirs has both", base: crlf(lf), ours: crlf(mine), theirs: mixed(their), want: crlf(mine), conflicts: true},
		{name: "no text", base: "\x00" + crlf(lf), ours: "\x00" + crlf(mine), theirs: "\x00" + their, want: "\x00" + crlf(mine), conflicts: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := storetest.New(t)
			side := func(text, attributes string) files {
				all := files{"other": "x\n"}
				if text != "" {
					all["f"] = text
				}
				if attributes != "" {
					all[".gitattributes"] = attributes
				}
				return all
			}
			got := storetest.Must[merge.Attempted](t)(merge.Attempt(t.Context(), s, merge.Sides{
				Base: writeTree(t, s, side(c.base, "")), Ours: writeTree(t, s, side(c.ours, "")), Theirs: writeTree(t, s, side(c.theirs, c.attributes)),
			}, merge.Driver{}))
			if tree := readTree(t, s, got.Tree); tree["f"] != c.want || len(got.Conflicts) > 0 != c.conflicts {
				t.Errorf("merged %q, want %q, conflicts %v", tree["f"], c.want, got.Conflicts)
			}
			if c.name == "no text" {
				if content := storetest.Must[[]byte](t)(s.Blob(got.Conflicts[0].Theirs.ID)); string(content) != c.theirs {
					t.Errorf("theirs became %q, it was %q", content, c.theirs)
				}
			}
			storetest.Fsck(t, s)
		})
	}
}
