package bisections

import (
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// search runs a whole search, and counts its rounds.
func search(n, most int, check func(int) missions.CheckState) (s *Search, rounds int) {
	s = New(n)
	for {
		next := s.Next(most)
		if len(next) == 0 {
			next = s.Doubted()
		}
		if len(next) == 0 || s.EndsWrong() >= 0 {
			return s, rounds
		}
		rounds++
		for _, i := range next {
			s.Set(i, check(i))
		}
	}
}

func faultAt(first int) func(int) missions.CheckState {
	return func(i int) missions.CheckState {
		if i < first {
			return missions.CheckGood
		}
		return missions.CheckBad
	}
}

// TestEachFaultIsFound: of 200 turns, one at a time in ten rounds, seven at a time in three.
func TestEachFaultIsFound(t *testing.T) {
	t.Parallel()
	for most, bound := range map[int]int{1: 10, 2: 7, 7: 3} {
		for first := 1; first <= 200; first++ {
			s, rounds := search(201, most, faultAt(first))
			if got := s.Suspects(); !slices.Equal(got, []int{first}) || rounds > bound || len(s.Unsteady()) > 0 {
				t.Fatalf("%d at once: %v after %d rounds, want %d after %d", most, got, rounds, first, bound)
			}
		}
	}
}

// TestStatesThatCannotBeJudged: they are passed over, and named where they hide the fault.
func TestStatesThatCannotBeJudged(t *testing.T) {
	t.Parallel()
	for most := 1; most <= 4; most++ {
		s, _ := search(21, most, func(i int) missions.CheckState {
			if i >= 8 && i <= 10 {
				return missions.CheckUnknown
			}
			return faultAt(10)(i)
		})
		if got := s.Suspects(); !slices.Equal(got, []int{8, 9, 10, 11}) {
			t.Errorf("%d at once: %v", most, got)
		}
	}
}

// TestUnsteadyBorder: once the check is known not to be steady, what it says of the border is
// asked again, and a state of which it says both is not named alone.
func TestUnsteadyBorder(t *testing.T) {
	t.Parallel()
	asked := map[int]int{}
	s, _ := search(21, 19, func(i int) missions.CheckState {
		if asked[i]++; i == 5 || i == 11 && asked[i] == 1 {
			return missions.CheckBad
		}
		return faultAt(12)(i)
	})
	if got := s.Suspects(); !slices.Equal(got, []int{11, 12}) {
		t.Errorf("bad by chance just before the fault: %v", got)
	}
	for i, n := range asked {
		if want := map[int]int{10: 2, 11: 2, 12: 2}[i]; n != max(want, 1) {
			t.Errorf("state %d was checked %d times", i, n)
		}
	}
}

func TestEndsAndUnsteadyStates(t *testing.T) {
	t.Parallel()
	if s, _ := search(9, 3, faultAt(0)); s.EndsWrong() != 0 {
		t.Errorf("all bad: %d", s.EndsWrong())
	}
	if s, _ := search(9, 3, faultAt(9)); s.EndsWrong() != 8 {
		t.Errorf("all good: %d", s.EndsWrong())
	}
	s, _ := search(21, 19, func(i int) missions.CheckState {
		if i == 5 {
			return missions.CheckBad
		}
		return faultAt(12)(i)
	})
	if got, odd := s.Suspects(), s.Unsteady(); !slices.Equal(got, []int{12}) || len(odd) > 0 && !slices.Equal(odd, []int{5}) {
		t.Errorf("a check that is not steady: %v, %v", got, odd)
	}
	if s, rounds := search(2, 1, faultAt(1)); !slices.Equal(s.Suspects(), []int{1}) || rounds != 2 {
		t.Errorf("two states: %v after %d rounds", s.Suspects(), rounds)
	}
}
