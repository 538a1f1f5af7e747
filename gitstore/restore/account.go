package restore

import "sync"

// account is what became of the changes so far. Several goroutines write to it.
type account struct {
	plan *Plan

	mu      sync.Mutex
	outcome Outcome
	done    map[int]bool
	left    map[int]bool
	skipped []int // databases of which nothing more is changed; see wholes
}

func (a *account) setDone(i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.done[i] = true
}

func (a *account) setLeft(i int, why Reason) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.left[i] {
		return
	}
	a.left[i] = true
	a.outcome.Left = append(a.outcome.Left, Left{a.plan.Changes[i].Path, why})
}

func (a *account) isLeft(i int) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.left[i]
}

// addDisplaced reports a file, or all that are in a directory.
func (a *account) addDisplaced(s spot, path string, f found) error {
	list, err := displacedIn(s, path, f)
	a.mu.Lock()
	defer a.mu.Unlock()
	a.outcome.Displaced = append(a.outcome.Displaced, list...)
	return err
}
