package gitstore

import (
	"bytes"
)

// edit is a run of lines: kept ones of both sides (a and b have equal length), or
// removed and added ones where the sides differ.
type edit struct {
	aFrom, aTo int
	bFrom, bTo int
	equal      bool
}

// maxDiffCost bounds the search for the shortest edit script, in steps of the
// algorithm. Beyond it a range is given as replaced whole: right, but not the
// shortest.
const maxDiffCost = 1 << 24

// splitLines cuts after each newline; a last line without one is a line.
func splitLines(data []byte) [][]byte {
	lines := make([][]byte, 0, bytes.Count(data, []byte{'\n'})+1)
	for line := range bytes.Lines(data) {
		lines = append(lines, line)
	}
	return lines
}

// diffLines returns the edits from a to b, neighbouring runs alternating between
// equal and not. It is Myers's linear-space algorithm ("An O(ND) Difference
// Algorithm and Its Variations", 1986) on numbered lines, after common ends and
// lines that only one side has were set aside, as Git's xdiff does.
func diffLines(a, b [][]byte) []edit {
	if len(a) == 0 || len(b) == 0 { // a file that is new or gone: nothing to number
		if len(a)+len(b) == 0 {
			return nil
		}
		return []edit{{aTo: len(a), bTo: len(b)}}
	}
	ids := make(map[string]int, len(a))
	number := func(lines [][]byte) []int {
		out := make([]int, len(lines))
		for i, l := range lines {
			id, ok := ids[string(l)]
			if !ok {
				id = len(ids)
				ids[string(l)] = id
			}
			out[i] = id
		}
		return out
	}
	d := &differ{a: number(a), b: number(b)}
	d.goneA, d.goneB = make([]bool, len(a)), make([]bool, len(b))
	d.run()
	return d.edits()
}

// differ marks the lines of each side that the other has not.
type differ struct {
	a, b         []int
	goneA, goneB []bool

	// ia and ib are the lines that both sides have, as places in a and b.
	ia, ib   []int
	fwd, bwd []int
	budget   int
}

func (d *differ) run() {
	lo, aHi, bHi := 0, len(d.a), len(d.b)
	for lo < aHi && lo < bHi && d.a[lo] == d.b[lo] {
		lo++
	}
	for aHi > lo && bHi > lo && d.a[aHi-1] == d.b[bHi-1] {
		aHi--
		bHi--
	}
	inA, inB := map[int]bool{}, map[int]bool{}
	for _, id := range d.a[lo:aHi] {
		inA[id] = true
	}
	for _, id := range d.b[lo:bHi] {
		inB[id] = true
	}
	for i := lo; i < aHi; i++ {
		if d.goneA[i] = !inB[d.a[i]]; !d.goneA[i] {
			d.ia = append(d.ia, i)
		}
	}
	for i := lo; i < bHi; i++ {
		if d.goneB[i] = !inA[d.b[i]]; !d.goneB[i] {
			d.ib = append(d.ib, i)
		}
	}
	n := 2*(len(d.ia)+len(d.ib)) + 4
	d.fwd, d.bwd = make([]int, n), make([]int, n)
	d.budget = maxDiffCost
	d.compare(0, len(d.ia), 0, len(d.ib))
}

func (d *differ) same(i, j int) bool { return d.a[d.ia[i]] == d.b[d.ib[j]] }

// compare marks the differences between ia[aLo:aHi] and ib[bLo:bHi].
func (d *differ) compare(aLo, aHi, bLo, bHi int) {
	for aLo < aHi && bLo < bHi && d.same(aLo, bLo) {
		aLo++
		bLo++
	}
	for aLo < aHi && bLo < bHi && d.same(aHi-1, bHi-1) {
		aHi--
		bHi--
	}
	if aLo < aHi && bLo < bHi {
		if x, y, ok := d.middle(aLo, aHi, bLo, bHi); ok {
			d.compare(aLo, x, bLo, y)
			d.compare(x, aHi, y, bHi)
			return
		}
	}
	for i := aLo; i < aHi; i++ {
		d.goneA[d.ia[i]] = true
	}
	for j := bLo; j < bHi; j++ {
		d.goneB[d.ib[j]] = true
	}
}

// middle finds a point on a shortest path, searching from both ends. It gives
// none when the budget is spent or the point would divide nothing.
func (d *differ) middle(aLo, aHi, bLo, bHi int) (int, int, bool) {
	n, m := aHi-aLo, bHi-bLo
	delta, odd := n-m, (n-m)%2 != 0
	mid := len(d.fwd) / 2
	for cost := 0; cost <= (n+m+1)/2; cost++ {
		if d.budget -= 2*cost + 2; d.budget < 0 {
			return 0, 0, false
		}
		for k := -cost; k <= cost; k += 2 {
			x := furthest(d.fwd, mid, k, cost, n, m)
			for x >= 0 && x < n && x-k < m && d.same(aLo+x, bLo+x-k) {
				x++
			}
			d.fwd[mid+k] = x
			if r := delta - k; odd && r > -cost && r < cost && x+d.bwd[mid+r] >= n {
				return d.point(aLo, aHi, bLo, bHi, x, x-k)
			}
		}
		for k := -cost; k <= cost; k += 2 {
			x := furthest(d.bwd, mid, k, cost, n, m)
			for x >= 0 && x < n && x-k < m && d.same(aHi-1-x, bHi-1-x+k) {
				x++
			}
			d.bwd[mid+k] = x
			if r := delta - k; !odd && r >= -cost && r <= cost && x+d.fwd[mid+r] >= n {
				return d.point(aLo, aHi, bLo, bHi, n-x, m-x+k)
			}
		}
	}
	return 0, 0, false
}

// offGrid stands for a diagonal that no path of this cost ends on.
const offGrid = -1 << 40

// furthest is where a path of this cost begins to slide on diagonal k: one step
// right from the diagonal below or one down from that above, whichever gets
// further without leaving the grid.
func furthest(v []int, mid, k, cost, n, m int) int {
	if cost == 0 {
		return 0
	}
	best := offGrid
	if k > -cost {
		if x := v[mid+k-1] + 1; x > 0 && x <= n {
			best = x
		}
	}
	if k < cost {
		if x := v[mid+k+1]; x > best && x-k <= m {
			best = x
		}
	}
	return best
}

func (d *differ) point(aLo, aHi, bLo, bHi, x, y int) (int, int, bool) {
	px, py := aLo+x, bLo+y
	inside := px >= aLo && px <= aHi && py >= bLo && py <= bHi
	divides := (px != aLo || py != bLo) && (px != aHi || py != bHi)
	return px, py, inside && divides
}

// edits turns the marks into runs.
func (d *differ) edits() []edit {
	var out []edit
	i, j := 0, 0
	for i < len(d.a) || j < len(d.b) {
		e := edit{aFrom: i, bFrom: j}
		for i < len(d.a) && j < len(d.b) && !d.goneA[i] && !d.goneB[j] {
			i++
			j++
		}
		if e.equal = i > e.aFrom; !e.equal {
			for i < len(d.a) && d.goneA[i] {
				i++
			}
			for j < len(d.b) && d.goneB[j] {
				j++
			}
		}
		e.aTo, e.bTo = i, j
		out = append(out, e)
	}
	return out
}
