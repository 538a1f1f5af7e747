// Package bisections finds where in a line of states a good one is followed by a bad one.
// It is pure: whoever asks runs the checks and gives it what they say.
package bisections

import "github.com/umbra-vcs/umbra/missions"

// Search is a line of states. The first is to be good, the last to be bad.
type Search struct {
	verdicts []missions.CheckState // "" of a state that was not checked
	twice    []bool                // was checked once more
}

// New begins a search among n states, at least two.
func New(n int) *Search { return &Search{make([]missions.CheckState, n), make([]bool, n)} }

// Set says what the check says of a state, and returns the verdict that counts: what is said
// another way the second time can't be judged.
func (s *Search) Set(i int, verdict missions.CheckState) missions.CheckState {
	if before := s.verdicts[i]; before != "" {
		s.twice[i] = true
		if before != verdict {
			verdict = missions.CheckUnknown
		}
	}
	s.verdicts[i] = verdict
	return verdict
}

// Verdict is what the check said of a state, "" if it was not asked.
func (s *Search) Verdict(i int) missions.CheckState { return s.verdicts[i] }

// EndsWrong reports which end is known to be other than it should, -1 if none is.
func (s *Search) EndsWrong() int {
	last := len(s.verdicts) - 1
	switch {
	case s.verdicts[last] != "" && s.verdicts[last] != missions.CheckBad:
		return last
	case s.verdicts[0] != "" && s.verdicts[0] != missions.CheckGood:
		return 0
	}
	return -1
}

// Next are the states to check now, at most so many at once. They cut what is open into
// equal parts. None: the search is over.
func (s *Search) Next(most int) (list []int) {
	last := len(s.verdicts) - 1
	for _, end := range []int{last, 0} {
		if s.verdicts[end] == "" && len(list) < most {
			list = append(list, end)
		}
	}
	if most -= len(list); most <= 0 || s.EndsWrong() >= 0 {
		return list
	}
	good, bad := s.border()
	var open []int
	for i := good + 1; i < bad; i++ {
		if s.verdicts[i] == "" {
			open = append(open, i)
		}
	}
	parts := min(most, len(open)) + 1
	for i := 1; i < parts; i++ {
		list = append(list, open[i*len(open)/parts])
	}
	return list
}

// Suspects are the states of which one is the first bad one. There are several where those
// between could not be judged.
func (s *Search) Suspects() (list []int) {
	good, bad := s.border()
	for i := good + 1; i <= bad; i++ {
		list = append(list, i)
	}
	return list
}

// Unsteady are states that were bad although a later one was good: the check does not always
// say the same, or the fault was mended and came back.
func (s *Search) Unsteady() (list []int) {
	good, _ := s.border()
	for i := range good {
		if s.verdicts[i] == missions.CheckBad {
			list = append(list, i)
		}
	}
	return list
}

// Doubted are states to check once more when the search is over: where the check was not
// steady once, what it said of the two at the border may be wrong too. The ends are given.
func (s *Search) Doubted() (list []int) {
	if len(s.Unsteady()) == 0 {
		return nil
	}
	good, bad := s.border()
	for _, i := range []int{good, bad} {
		if i > 0 && i < len(s.verdicts)-1 && !s.twice[i] {
			list = append(list, i)
		}
	}
	return list
}

// border is the newest good state, and the oldest bad one after it.
func (s *Search) border() (good, bad int) {
	bad = len(s.verdicts) - 1
	for i := bad; i > 0; i-- {
		if s.verdicts[i] == missions.CheckGood {
			good = i
			break
		}
	}
	for i := bad; i > good; i-- {
		if s.verdicts[i] == missions.CheckBad {
			bad = i
		}
	}
	return good, bad
}
