package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

const (
	searchedSessions = 8
	// vocabulary is how many words there are. How often one is said falls as in languages.
	vocabulary  = 60_000
	wordsInTurn = 400
)

// speech says words, each turn the same ones whenever it is asked.
type speech struct{ words []string }

func newSpeech() *speech {
	r := rand.New(rand.NewPCG(15, 0))
	const consonants, vowels = "bcdfghjklmnpqrstvwxz", "aeiouy"
	s := &speech{}
	known := map[string]bool{}
	for len(s.words) < vocabulary {
		var b strings.Builder
		for range 1 + r.IntN(4) {
			b.WriteByte(consonants[r.IntN(len(consonants))])
			b.WriteByte(vowels[r.IntN(len(vowels))])
			if r.IntN(2) == 0 {
				b.WriteByte(consonants[r.IntN(len(consonants))])
			}
		}
		if word := b.String(); len(word) > 2 && !known[word] {
			known[word] = true
			s.words = append(s.words, word)
		}
	}
	return s
}

// say is what is said in a turn of a session.
func (s *speech) say(session, turn int) []string {
	r := rand.New(rand.NewPCG(uint64(session), uint64(turn)))
	often := rand.NewZipf(r, 1.1, 8, vocabulary-1)
	said := make([]string, wordsInTurn)
	for i := range said {
		said[i] = s.words[often.Uint64()]
	}
	return said
}

// queries are searches for what was said somewhere: words, pairs of words of a turn, phrases.
func (s *speech) queries(n, turns int) (all []string) {
	r := rand.New(rand.NewPCG(15, 1))
	for i := range n {
		said := s.say(r.IntN(searchedSessions), 1+r.IntN(turns))
		a, b := said[r.IntN(len(said))], said[r.IntN(len(said))]
		at := r.IntN(len(said) - 3)
		all = append(all, []string{a, a + " " + b, `"` + strings.Join(said[at:at+3], " ") + `"`}[i%3])
	}
	return all
}

// searched is conversations in which is searched.
type searched struct {
	umbra   *lab.Umbra
	dir     string
	speech  *speech
	bytes   int
	turns   int    // of a session
	project string // where Umbra keeps it
}

// converse makes conversations of that many bytes, each a session of its own.
func (b *bench) converse(ctx context.Context, u *lab.Umbra, size int) (*searched, error) {
	dir, err := b.dir("search")
	if err != nil {
		return nil, err
	}
	if err := (&lab.Tree{Files: 20, Seed: 15}).Make(dir); err != nil {
		return nil, err
	}
	t := &searched{umbra: u, dir: dir, speech: newSpeech()}
	for n := range searchedSessions {
		session := u.NewSession(dir, n+1)
		c, err := session.Converse()
		if err != nil {
			return nil, err
		}
		c.Text = func(turn int) string {
			t.turns = turn
			return strings.Join(t.speech.say(n, turn), " ")
		}
		grown, err := c.Grow(size / searchedSessions)
		if err != nil {
			return nil, err
		}
		t.bytes += grown
		if err := session.Begin(ctx); err != nil {
			return nil, err
		}
		if _, err := session.Stop(ctx); err != nil {
			return nil, err
		}
		if _, err := session.End(ctx); err != nil {
			return nil, err
		}
		t.project = filepath.Dir(session.Mission.Shadow)
	}
	return t, nil
}

// search searches for each of a list, and gives what is printed.
func (t *searched) search(ctx context.Context, list []string, more ...string) (costs lab.Costs, found []string, err error) {
	for _, q := range list {
		cost, out, err := t.umbra.Run(ctx, t.dir, append([]string{"search", q, "--json"}, more...)...)
		if err != nil {
			return nil, nil, err
		}
		costs, found = append(costs, cost), append(found, out)
	}
	return costs, found, nil
}

// measureSearch holds searches with an index against the same ones without.
func measureSearch(ctx context.Context, b *bench) error {
	u, err := b.home("search")
	if err != nil {
		return err
	}
	daemon, err := u.Start(ctx)
	if err != nil {
		return err
	}
	t, err := b.converse(ctx, u, b.text<<20/b.samples(1, 10))
	if err != nil {
		return err
	}
	queries := t.speech.queries(b.samples(120, 30), t.turns)
	scanned := queries[:b.samples(12, 6)]
	plain, want, err := t.search(ctx, scanned)
	if err != nil {
		return err
	}
	f := b.goal("P15")
	indexing, err := t.index(ctx, f)
	if err != nil {
		return err
	}
	own, found, err := t.search(ctx, queries)
	if err != nil {
		return err
	}
	for i := range want {
		if want[i] != found[i] {
			return fmt.Errorf("a search for %s finds something else with an index", queries[i])
		}
	}
	alone, _, err := t.search(ctx, scanned, "--no-daemon")
	if err != nil {
		return err
	}
	highest, err := daemon.PID.Highest()
	if err != nil {
		return err
	}
	f.add(line{"search, " + number(megabytes(int64(t.bytes))) + " MB", own, []peer{{"without an index", plain}}})
	for i, kind := range []string{"words", "pairs", "phrases"} {
		var costs lab.Costs
		for j := i; j < len(own); j += 3 {
			costs = append(costs, own[j])
		}
		f.add(line{what: kind, umbra: costs})
	}
	f.add(line{what: "by a process of its own, no daemon", umbra: alone})
	f.within("p95", own.Walls().Percentile(95), 50*time.Millisecond)
	f.most("memory of a search", megabytes(alone.Peak()), 100, " MB")
	f.most("memory to index", megabytes(indexing.Peak), 100, " MB")
	f.note("%d sessions were indexed in %s s of processor time; the daemon, which had searched all of them, took %s MB at most", searchedSessions, number(indexing.CPU.Seconds()), number(megabytes(highest)))
	return nil
}

// index has the conversations indexed, and says how large the index is.
func (t *searched) index(ctx context.Context, f *finding) (lab.Cost, error) {
	cost, _, err := t.umbra.Run(ctx, t.dir, "run-housekeeping", t.project)
	if err != nil {
		return cost, err
	}
	weight, err := lab.Weigh(filepath.Join(t.project, "search"))
	if err == nil {
		f.most("index", 100*float64(weight.Bytes)/float64(t.bytes), 10, " %")
	}
	return cost, err
}
