package gemini

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/umbra-vcs/umbra/sessions"
)

func cutOf(t *testing.T, b []byte) sessions.Cut {
	t.Helper()
	cut, err := Adapter{}.Cut(bytes.NewReader(b))
	if err != nil && !errors.Is(err, sessions.ErrEmptyCut) || (err != nil) != (cut.Length == 0) {
		t.Fatalf("cut at %d, %v", cut.Length, err)
	}
	return cut
}

func TestCut(t *testing.T) {
	for name, c := range map[string]struct {
		kept, dropped []string
		open          []string
	}{
		"answered":              {kept: []string{asked1, said1, touched}},
		"prompt":                {kept: []string{asked1, said1, touched}, dropped: []string{asked2, touched}},
		"call begun":            {kept: []string{asked1, said1}, dropped: []string{asked2, begun2}},
		"call without result":   {kept: []string{asked1, said1}, dropped: []string{asked2, waits2}, open: []string{"c1"}},
		"call with result":      {kept: []string{asked1, said1, asked2, begun2, called2}},
		"results":               {kept: []string{asked2, called2, results2, touched}},
		"resumption, half":      {kept: []string{asked1, said1, `{"sessionId":"s","projectHash":"h"}`}, dropped: []string{patch(context1)}},
		"resumption":            {kept: []string{asked1, said1, patch(context1), patch(context1, asked1, said1)}},
		"taken back by Esc":     {kept: []string{asked1, said1, asked2, begun2, patch(asked1, said1)}},
		"cancelled, told again": {kept: []string{asked1, said1, asked2, waits2, cancelled2, retold1, retold2, patch(retold1, retold2)}},
		"cancelled, half told":  {kept: []string{asked1, said1, asked2, waits2, cancelled2}, dropped: []string{retold1, retold2, touched}},
		"cancelled at first":    {kept: []string{asked1, cancelled2}, dropped: []string{retold1, patch(retold1)}},
		"told, another run":     {kept: []string{asked1, said1, retold1, `{"sessionId":"s","projectHash":"h"}`, said2}},
		"rewound":               {kept: []string{asked1, said1, asked2, said2, `{"$rewindTo":"p2"}`}},
		"rewound to a prompt":   {kept: []string{asked1, said1, asked2, said2}, dropped: []string{`{"$rewindTo":"a2"}`}},
		"rewound to the start":  {dropped: []string{asked1, said1, `{"$rewindTo":"p1"}`, asked2}},
		"foreign line":          {kept: []string{asked1, said1}, dropped: []string{"no JSON", touched}},
		"torn":                  {kept: []string{asked1, said1}},
		"nothing":               {dropped: []string{context1, touched}},
	} {
		want := sessions.Cut{Length: int64(len(transcript(c.kept...))), Events: len(c.kept), Dropped: len(c.dropped)}
		b := []byte(transcript(append(slices.Clone(c.kept), c.dropped...)...))
		if name == "torn" {
			b = append(b, asked2...)
		}
		got := cutOf(t, b)
		var open []string
		for _, tool := range got.Open {
			open = append(open, tool.ID)
		}
		if got.Length != want.Length || got.Events != want.Events || got.Dropped != want.Dropped || !slices.Equal(open, c.open) {
			t.Errorf("%s: cut %+v, want %+v and %q open", name, got, want, c.open)
		}
	}
}

// TestCutEnd: the end of a conversation tells the cut where what came before
// can't matter, and else says so.
func TestCutEnd(t *testing.T) {
	head := transcript(asked1, said1)
	end := func(lines ...string) (sessions.Cut, bool) {
		t.Helper()
		cut, told, err := Adapter{}.CutEnd(strings.NewReader(transcript(lines...)), int64(len(head)))
		if err != nil {
			t.Fatal(err)
		}
		return cut, told
	}
	third := `{"id":"p3","type":"user","content":"three"}`
	if cut, told := end(said2, third, `{"id":"a3","type":"gemini","content":"so"}`, asked1); !told || cut.Dropped != 1 || cut.Length != int64(len(head+transcript(said2, third, `{"id":"a3","type":"gemini","content":"so"}`))) {
		t.Errorf("cut %+v, told %t", cut, told)
	}
	for name, lines := range map[string][]string{
		"no prompt":              {said2, touched},
		"no answer":              {said2, third},
		"taken back from before": {said2, third, `{"id":"a3","type":"gemini","content":"so"}`, `{"$rewindTo":"p1"}`},
	} {
		if cut, told := end(lines...); told {
			t.Errorf("%s: told %+v", name, cut)
		}
	}
}

func FuzzCut(f *testing.F) {
	for _, name := range transcripts {
		for line := range strings.Lines(string(fixture(f, name))) {
			f.Add([]byte(line))
		}
	}
	f.Add([]byte(transcript(asked1, said1, asked2, waits2, called2, results2, patch(asked1), `{"$rewindTo":"p1"}`)))
	f.Fuzz(func(t *testing.T, b []byte) {
		cut := cutOf(t, b)
		if cut.Length > int64(len(b)) || cut.Length > 0 && b[cut.Length-1] != '\n' {
			t.Fatalf("cut at %d of %d", cut.Length, len(b))
		}
		if want := bytes.Count(b[:cut.Length], []byte("\n")); cut.Events != want {
			t.Fatalf("%d lines kept, %d said", want, cut.Events)
		}
		if again := cutOf(t, b[:cut.Length]); again.Length != cut.Length || len(again.Open) > 0 {
			t.Fatalf("cut of a cut: %+v, then %+v", cut, again)
		}
	})
}
