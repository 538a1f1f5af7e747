package e2e

import "testing"

// findsInSubagent: what one subagent of a mission said or did is found once, at that mission.
func (p *person) findsInSubagent(t *testing.T, text, in, mission string) {
	t.Helper()
	type hit struct{ Mission, Subagent, Address, Text string }
	hits := asked[[]hit](p, "search", `"`+text+`"`, "--in", in)
	var found []hit
	for _, h := range hits {
		if h.Subagent != "" {
			found = append(found, h)
		}
	}
	if len(found) != 1 || found[0].Mission != mission || found[0].Address == "" {
		t.Errorf("%q in the %s of subagents: %+v, of %+v; want one of %s", text, in, found, hits, mission)
	}
}
