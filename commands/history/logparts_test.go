package history

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// TestLogInParts: both parts are the whole list, and the first one ends with a turn.
func TestLogInParts(t *testing.T) {
	t.Parallel()
	for turnLength, wantFirst := range map[int]int{7: 196, 200: 0, 300: 0, 1: 199} {
		var all []missions.Entry
		for i := range 500 {
			all = append(all, missions.Entry{ID: fmt.Sprint("id", i), Turn: 1000 - i/turnLength, Unpaired: 1})
		}
		asked := 0
		log := partedLog{ask: func(_ context.Context, r missions.LogRequest) ([]missions.Entry, error) {
			asked++
			list := all[slices.IndexFunc(all, func(e missions.Entry) bool { return e.ID == r.After })+1:]
			if r.Limit > 0 {
				list = list[:min(r.Limit, len(list))]
			}
			return list, nil
		}}
		list, rest, err := log.begin(t.Context(), missions.LogRequest{}, true)
		if err != nil || rest != nil && len(list) != wantFirst || rest == nil && len(list) != len(all) {
			t.Fatalf("turns of %d: %d in the first part, %v", turnLength, len(list), err)
		}
		if rest != nil {
			more, err := rest(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			list = append(slices.Clip(list), more...)
		}
		if !slices.EqualFunc(list, all, func(a, b missions.Entry) bool { return a.ID == b.ID }) || (rest == nil) != (wantFirst == 0) {
			t.Errorf("turns of %d: %d snapshots in all", turnLength, len(list))
		}
	}
	failing := partedLog{ask: func(context.Context, missions.LogRequest) ([]missions.Entry, error) { return nil, errors.New("lost") }}
	if _, rest, err := failing.begin(t.Context(), missions.LogRequest{}, true); err == nil || rest != nil {
		t.Error("an error was lost")
	}
}
