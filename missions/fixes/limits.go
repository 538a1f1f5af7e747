package fixes

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/findings"
)

// Limits say how many attempts there are at most: at findings of a severity, and in all.
type Limits struct {
	Most  map[missions.Severity]int `json:"most"`
	Total int                       `json:"total"`
}

// DefaultLimits are those that count where nothing else is said.
func DefaultLimits() Limits {
	return Limits{Total: 10, Most: map[missions.Severity]int{
		missions.SeverityLow: 5, missions.SeverityMedium: 3, missions.SeverityHigh: 1, missions.SeverityCritical: 0,
	}}
}

// With are the limits with what a text such as "low=5,high=1" says.
func (l Limits) With(text string) (Limits, error) {
	l.Most = maps.Clone(l.Most)
	for part := range strings.SplitSeq(text, ",") {
		name, number, _ := strings.Cut(part, "=")
		severity := missions.Severity(strings.TrimSpace(name))
		n, err := strconv.Atoi(strings.TrimSpace(number))
		if err != nil || n < 0 || !slices.Contains(findings.Severities(), severity) {
			return l, missions.Errorf(missions.KindUsage, "such as --max low=5,medium=3,high=1,critical=0", "--max says %q", part)
		}
		l.Most[severity] = n
	}
	return l, nil
}
