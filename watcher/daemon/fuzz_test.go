package daemon

import (
	"encoding/json"
	"testing"

	"github.com/umbra-vcs/umbra/missions"
)

// FuzzRequest: a request that is taken is taken whole; nothing that it asks is
// dropped in silence.
func FuzzRequest(f *testing.F) {
	f.Add([]byte(`{"caller":{"cwd":"/x","env":{"HOME":"/h"}},"moment":"a@1","mine":true}`))
	f.Add([]byte(`{"caller":{},"agent":"claude","payload":{"hook_event_name":"Stop"}}`))
	f.Add([]byte(`{"moment":"a","unheard_of":1}`))
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, r := range []any{
			&missions.RestoreRequest{}, &missions.HookRequest{}, &missions.ForkRequest{}, &missions.NewMissionRequest{},
			&missions.SnapshotRequest{}, &missions.RemoveRequest{}, &missions.UndoRequest{}, &missions.LogRequest{},
		} {
			if decode(body, r) != nil {
				continue
			}
			if !json.Valid(body) { // a second value would be dropped
				t.Fatalf("%q was taken, and what follows its first value dropped", body)
			}
		}
	})
}
