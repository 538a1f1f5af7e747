package searches

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/missions"
)

func TestQuery(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		typed, text string
		line        string // "" where nothing matches
	}{
		{"log AUDIT", "an Audit\nof the Logs", "an Audit"},
		{"audit logs", "no\n  an audit of the logs  \nlogs", "an audit of the logs"},
		{`"the Logs"`, "an audit\nof the Logs", "of the Logs"},
		{`"the logs"`, "an audit of the Logs", ""},
		{"\"audit\nof\"", "x\nan audit\nof the logs", "an audit"},
		{"größe", "Die GRÖSSE und die GRÖßE", "Die GRÖSSE und die GRÖßE"},
		{"ς", "ΣΑΣ", ""},
		{"a b", "a\xffB", "a\uFFFDB"},
		{"needle", strings.Repeat("ü", 500) + "needle" + strings.Repeat("x", 900), "…" + strings.Repeat("ü", 40) + "needle" + strings.Repeat("x", 314) + "…"},
	} {
		q, err := parseQuery(c.typed)
		if err != nil {
			t.Fatal(err)
		}
		if found := q.matches(c.text); found != (c.line != "") {
			t.Errorf("%q in %q: %v", c.typed, c.text, found)
		}
		if got, _ := q.line(c.text); c.line != "" && got != c.line {
			t.Errorf("%q: the line is %q, want %q", c.typed, got, c.line)
		}
	}
	for _, typed := range []string{"", "  ", `""`, ` "" `} {
		if _, err := parseQuery(typed); err == nil {
			t.Errorf("%q is looked for", typed)
		}
	}
}

// TestFold: no byte of a text moves.
func TestFold(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "Ab", "İI\xff", "\uFFFD\xffÄ", "ẞß", "a\xc3", "ΣΑΣ", "K"} {
		if got := fold(s); len(got) != len(s) || fold(got) != got {
			t.Errorf("%q becomes %q", s, got)
		}
	}
}

// TestPages: pages of any size, after each other, are all hits, the newest first, in
// whatever order and parts they are found.
func TestPages(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(24, 3))
	for range 200 {
		var all []missions.SearchHit
		parts := make([][]missions.SearchHit, 1+random.IntN(5))
		for n := range random.IntN(40) {
			hit := missions.SearchHit{At: time.Unix(int64(random.IntN(12)), 0), Order: fmt.Sprintf("%03d", n)}
			all = append(all, hit)
			part := random.IntN(len(parts))
			parts[part] = append(parts[part], hit)
		}
		slices.SortFunc(all, compareHits)
		var got []missions.SearchHit
		for limit := 1 + random.IntN(9); ; {
			p := &page{limit: limit}
			if len(got) > 0 {
				p.after = &got[len(got)-1]
			}
			var sources []source
			for _, hits := range parts {
				var newest time.Time
				for _, hit := range hits {
					if hit.At.After(newest) {
						newest = hit.At
					}
				}
				sources = append(sources, source{newest: newest, search: adding(slices.Clone(hits))})
			}
			if err := p.fill(t.Context(), sources); err != nil {
				t.Fatal(err)
			}
			got = append(got, p.hits...)
			if !p.more || len(p.hits) == 0 {
				break
			}
		}
		if !slices.Equal(got, all) {
			t.Fatalf("%d parts: %v, want %v", len(parts), got, all)
		}
	}
}

// adding is a search that finds hits, one after the other.
func adding(hits []missions.SearchHit) func(context.Context, *page) (time.Time, error) {
	slices.SortFunc(hits, compareHits)
	return func(_ context.Context, p *page) (time.Time, error) {
		if len(hits) == 0 {
			return time.Time{}, nil
		}
		p.add(hits[0])
		if hits = hits[1:]; len(hits) == 0 {
			return time.Time{}, nil
		}
		return hits[0].At, nil
	}
}
