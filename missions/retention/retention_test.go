package retention

import (
	"crypto/sha1"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/umbra-vcs/umbra/gitstore"
)

var noon = time.Date(2026, 11, 27, 12, 0, 0, 0, time.UTC)

func id(name string) gitstore.ID { return sha1.Sum([]byte(name)) }

// drawn makes the material of histories that are drawn: a line each, oldest snapshot
// first, as name/turn/age. A name that ends in ! is an operation, which needs the snapshot
// before it. "a: p2> x/1/1h" is mission a, forked at p2.
func drawn(p Policy, lines ...string) Material {
	m := Material{Snapshots: map[gitstore.ID]Snapshot{}}
	for _, line := range lines {
		mission, rest, _ := strings.Cut(line, ": ")
		var before gitstore.ID
		if from, own, forked := strings.Cut(rest, "> "); forked {
			before, rest = id(from), own
		}
		for _, text := range strings.Fields(rest) {
			var turn int
			part := strings.Split(text, "/")
			name, operation := strings.CutSuffix(part[0], "!")
			_, _ = fmt.Sscan(part[1], &turn)
			age, err := time.ParseDuration(part[2])
			if err != nil {
				panic(err)
			}
			s := Snapshot{ID: id(name), Mission: mission, Turn: turn, At: noon.Add(-age), Operation: operation}
			if !before.IsZero() {
				s.Parents = []gitstore.ID{before}
			}
			if operation {
				s.Needs = []gitstore.ID{before}
			}
			m.Snapshots[s.ID], before = s, s.ID
		}
		m.Histories = append(m.Histories, History{Mission: mission, Tip: before, Policy: p})
	}
	return m
}

func TestDecide(t *testing.T) {
	t.Parallel()
	const five = "p: a/0/9h b/1/8h c/1/7h d/2/6h e/2/5h f/3/4h g/3/3h h/4/2h"
	for _, tt := range []struct {
		name   string
		policy Policy
		lines  []string
		claims []Claim
		kept   string // name:reasons
		cuts   string // after<before
	}{
		{"nothing but what always stays", Policy{}, []string{five}, nil, "a:start h:tip", "h<a"},
		{"turns are counted, not snapshots", Policy{KeepLast: 2}, []string{five}, nil, "a:start f:last g:last h:last,tip", "f<a"},
		{"a turn that ended within the time is whole", Policy{KeepWithin: 5 * time.Hour}, []string{five}, nil, "a:start d:within e:within f:within g:within h:tip,within", "d<a"},
		{"of each hour the newest turn", Policy{KeepHourly: 2}, []string{"p: a/0/9h b/1/2h20m c/2/2h10m d/3/1h"}, nil, "a:start c:hourly d:hourly,tip", "c<a"},
		{"of each day the newest turn", Policy{KeepDaily: 2}, []string{"p: a/0/90h b/1/50h c/2/49h d/3/48h e/4/1h"}, nil, "a:start d:daily e:daily,tip", "d<a"},
		{"a pin keeps its turn", Policy{KeepLast: 1}, []string{five}, []Claim{{id("d"), Pinned}}, "a:start d:pin e:turn h:last,tip", "d<a h<e"},
		{"a claim on something else", Policy{KeepLast: 1}, []string{five}, []Claim{{id("tree"), InUse}}, "a:start h:last,tip", "h<a"},
		{"an operation, and what takes it back", Policy{KeepLast: 1}, []string{"p: a/0/9h b/1/8h c/2/7h r!/2/6h d/3/5h e/4/4h"}, nil, "a:start c:undo e:last,tip r:undo", "c<a e<r"},
		{"a fork", Policy{KeepLast: 1}, []string{five, "f: d> x/2/5h y/3/4h z/4/3h"}, nil, "a:start d:fork_point e:turn h:last,tip x:start z:last,tip", "d<a h<e z<x"},
		{"a fork counts the turns before it", Policy{KeepLast: 2}, []string{five, "f: e> x/3/2h"}, nil,
			"a:start d:last e:fork_point,last f:last g:last h:last,tip x:last,start,tip", "d<a"},
		{"snapshots outside of turns", Policy{KeepLast: 2}, []string{"p: a/0/9h b/0/8h c/0/7h d/0/6h"}, nil, "a:start c:last d:last,tip", "c<a"},
		{"what came since", Policy{KeepLast: 1}, []string{"p: a/0/9h b/1/8h c/2/7h d/3/-1h e/4/-2h"}, nil, "a:start c:last d:within e:tip,within", "c<a"},
		{"a clock that was set back", Policy{KeepWithin: time.Hour}, []string{"p: a/0/-3h b/1/-2h c/2/-1h"}, nil, "a:start,within b:within c:tip,within", ""},
	} {
		m := drawn(tt.policy, tt.lines...)
		m.Claims = tt.claims
		plan, err := Decide(m, noon)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if kept, cuts := told(m, plan); kept != tt.kept || cuts != tt.cuts {
			t.Errorf("%s:\n kept %s\n want %s\n cuts %s\n want %s", tt.name, kept, tt.kept, cuts, tt.cuts)
		}
	}
}

// told writes a plan as the table has it.
func told(m Material, p Plan) (kept, cuts string) {
	name := map[gitstore.ID]string{}
	for c := 'a'; c <= 'z'; c++ {
		name[id(string(c))] = string(c)
	}
	var keeps, cut []string
	for id, why := range p.Kept {
		var words []string
		for _, w := range why {
			words = append(words, string(w))
		}
		slices.Sort(words)
		keeps = append(keeps, name[id]+":"+strings.Join(words, ","))
	}
	for after, before := range p.Cuts {
		cut = append(cut, name[after]+"<"+name[before])
	}
	slices.Sort(keeps)
	slices.Sort(cut)
	return strings.Join(keeps, " "), strings.Join(cut, " ")
}

// TestLeftConversationStays: the agent may have deleted what its user has left.
func TestLeftConversationStays(t *testing.T) {
	t.Parallel()
	m := drawn(Policy{KeepLast: 1}, "p: a/0/9h b/1/8h c/2/7h d/3/6h e/4/5h f/5/4h")
	for name, session := range map[string]string{"b": "one", "c": "one", "d": "two", "e": "two", "f": "two"} {
		s := m.Snapshots[id(name)]
		s.Session = session
		m.Snapshots[s.ID] = s
	}
	plan, err := Decide(m, noon)
	if err != nil {
		t.Fatal(err)
	}
	if kept, cuts := told(m, plan); kept != "a:start c:conversation f:conversation,last,tip" || cuts != "c<a f<c" {
		t.Errorf("kept %s, cuts %s", kept, cuts)
	}
}

// TestPromotionStaysWhole: Git's boundary would take both parents of a commit away.
func TestPromotionStaysWhole(t *testing.T) {
	t.Parallel()
	m := drawn(Policy{KeepLast: 1}, "p: a/0/9h b/1/8h c/2/7h m/2/6h d/3/5h e/4/4h", "f: b> x/1/8h y/2/7h z/3/6h")
	promotion := m.Snapshots[id("m")]
	promotion.Parents = append(promotion.Parents, id("y"))
	m.Snapshots[promotion.ID] = promotion
	m.Claims = []Claim{{promotion.ID, Pinned}}
	plan, err := Decide(m, noon)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"c", "y"} {
		if !slices.Contains(plan.Kept[id(name)], Merged) {
			t.Errorf("%s is kept for %v", name, plan.Kept[id(name)])
		}
	}
	if _, cut := plan.Cuts[promotion.ID]; cut {
		t.Error("the promotion lost its parents")
	}
}

func TestNothingIsDecidedOnHalf(t *testing.T) {
	t.Parallel()
	m := drawn(Policy{KeepLast: 1}, "p: a/0/9h b/1/8h c/2/7h")
	delete(m.Snapshots, id("b"))
	if plan, err := Decide(m, noon); err == nil || len(plan.Kept) > 0 {
		t.Errorf("a gap: %v, %v", plan, err)
	}
	if _, err := Decide(Material{Claims: []Claim{{id("a"), Pinned}}}, noon); !errors.Is(err, ErrNothingKept) {
		t.Errorf("no history: %v", err)
	}
	loop := drawn(Policy{}, "p: a/0/9h b/1/8h")
	s := loop.Snapshots[id("a")]
	s.Parents = []gitstore.ID{id("b")}
	loop.Snapshots[s.ID] = s
	if _, err := Decide(loop, noon); err == nil {
		t.Error("a history that never ends")
	}
}

// TestKeptNeedsNoDropped draws projects by lot. Whatever the policy: what always stays is
// there, what is kept needs nothing that goes but over a cut, a cut leads to what is kept,
// and a decision on what is left changes nothing.
func TestKeptNeedsNoDropped(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		lot := rand.New(rand.NewPCG(seed, 23))
		m := drawnByLot(lot)
		now := noon.Add(time.Duration(lot.IntN(50)) * time.Hour)
		plan, err := Decide(m, now)
		if err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
		checkPlan(t, seed, m, plan)
		left := m
		left.Snapshots = map[gitstore.ID]Snapshot{}
		for id := range plan.Kept {
			s := m.Snapshots[id]
			if before, cut := plan.Cuts[id]; cut {
				s.Parents = nil
				if !before.IsZero() {
					s.Parents = []gitstore.ID{before}
				}
			}
			left.Snapshots[id] = s
		}
		again, err := Decide(left, now)
		if err != nil {
			t.Fatalf("seed %d: again: %v", seed, err)
		}
		for id := range left.Snapshots {
			if again.Kept[id] == nil {
				t.Errorf("seed %d: %s was kept for %v, and goes the second time", seed, id.Short(), plan.Kept[id])
			}
		}
		if len(again.Cuts) > 0 {
			t.Errorf("seed %d: cut again: %v", seed, again.Cuts)
		}
	}
}

func checkPlan(t *testing.T, seed uint64, m Material, plan Plan) {
	t.Helper()
	for _, h := range m.Histories {
		if !slices.Contains(plan.Kept[h.Tip], Tip) {
			t.Errorf("seed %d: the tip of %s goes", seed, h.Mission)
		}
	}
	for _, c := range m.Claims {
		if plan.Kept[c.ID] == nil {
			t.Errorf("seed %d: %s goes, which is a %s", seed, c.ID.Short(), c.Reason)
		}
	}
	for kept := range plan.Kept {
		s := m.Snapshots[kept]
		before, cut := plan.Cuts[kept]
		for _, parent := range s.Parents {
			if !cut && plan.Kept[parent] == nil {
				t.Errorf("seed %d: %s stays without a parent", seed, kept.Short())
			}
		}
		if cut && (len(s.Parents) != 1 || !before.IsZero() && plan.Kept[before] == nil) {
			t.Errorf("seed %d: %s is cut with %d parents, before it %s", seed, kept.Short(), len(s.Parents), before.Short())
		}
		for other, o := range m.Snapshots {
			if o.Turn > 0 && o.Turn == s.Turn && o.Mission == s.Mission && plan.Kept[other] == nil {
				t.Errorf("seed %d: half of turn %d stays", seed, s.Turn)
			}
		}
		for _, need := range s.Needs {
			if plan.Kept[need] == nil {
				t.Errorf("seed %d: %s can't be undone", seed, kept.Short())
			}
		}
	}
}

func drawnByLot(lot *rand.Rand) Material {
	m := Material{Snapshots: map[gitstore.ID]Snapshot{}}
	for n := range 1 + lot.IntN(5) {
		mission := fmt.Sprint("m", n)
		known := slices.SortedFunc(maps.Keys(m.Snapshots), gitstore.ID.Compare)
		any := func() gitstore.ID { return known[lot.IntN(len(known))] }
		var before gitstore.ID
		at := noon.Add(-100 * time.Hour)
		if n > 0 && lot.IntN(3) > 0 {
			before = any()
			at = m.Snapshots[before].At
		}
		turn := 0
		for i := range 1 + lot.IntN(40) {
			turn += lot.IntN(2)
			at = at.Add(time.Duration(lot.IntN(300)) * time.Minute)
			s := Snapshot{ID: id(fmt.Sprint(mission, i)), Mission: mission, Turn: turn, At: at, Operation: lot.IntN(10) == 0}
			if !before.IsZero() {
				s.Parents = []gitstore.ID{before}
				if len(known) > 0 && lot.IntN(8) == 0 {
					s.Parents = append(s.Parents, any())
				}
			}
			if s.Operation && !before.IsZero() {
				s.Needs = []gitstore.ID{before}
			}
			m.Snapshots[s.ID], before = s, s.ID
		}
		m.Histories = append(m.Histories, History{Mission: mission, Tip: before, Policy: Policy{
			KeepLast: lot.IntN(4), KeepWithin: time.Duration(lot.IntN(60)) * time.Hour, KeepHourly: lot.IntN(3), KeepDaily: lot.IntN(3),
		}})
	}
	known := slices.SortedFunc(maps.Keys(m.Snapshots), gitstore.ID.Compare)
	for range lot.IntN(4) {
		m.Claims = append(m.Claims, Claim{known[lot.IntN(len(known))], Pinned})
	}
	return m
}

// TestUnpushedStays: Git pushes no history that was cut after what the remote has.
func TestUnpushedStays(t *testing.T) {
	t.Parallel()
	m := drawn(Policy{KeepLast: 1}, "p: a/0/9h b/1/8h c/2/7h d/3/6h e/4/5h f/5/4h")
	m.Histories[0].Pushed = map[gitstore.ID]bool{id("d"): true, id("elsewhere"): true}
	plan, err := Decide(m, noon)
	if err != nil {
		t.Fatal(err)
	}
	if kept, cuts := told(m, plan); kept != "a:start d:unpushed e:unpushed f:last,tip,unpushed" || cuts != "d<a" {
		t.Errorf("kept %s, cuts %s", kept, cuts)
	}
}

// TestHistoryOfOthersStays: a mission that is not pruned keeps what it shares with one
// that is, and says for whom.
func TestHistoryOfOthersStays(t *testing.T) {
	t.Parallel()
	for forked, want := range map[string]string{
		"d": "a:shared,start b:shared c:shared d:fork_point,last,shared,tip x:shared,start,tip",
		"b": "a:shared,start b:fork_point,shared d:last,tip x:shared,start,tip",
	} {
		m := drawn(Policy{KeepLast: 1}, "p: a/0/9h b/1/8h c/2/7h d/3/6h", "f: "+forked+"> x/4/1h")
		m.Histories[1].Whole = true
		plan, err := Decide(m, noon)
		if err != nil {
			t.Fatal(err)
		}
		if kept, _ := told(m, plan); kept != want {
			t.Errorf("forked at %s: kept %s", forked, kept)
		}
	}
}
