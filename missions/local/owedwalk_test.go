package local

import "testing"

// TestWalkIsOwedAgain: a walk that was owed, and of which nothing was published, is
// still owed; one that was accepted is not.
func TestWalkIsOwedAgain(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.write("a.txt", "one\n")
	m := b.mission("work")
	loaded, err := b.local.MissionByID(m.ID)
	if err != nil {
		t.Fatal(err)
	}
	ws, err := b.local.RefreshWorkspace(t.Context(), loaded)
	if err != nil {
		t.Fatal(err)
	}
	for accepted, want := range map[bool]string{false: "as a test", true: ""} {
		b.local.RequestWalk(ws.Root, "as a test")
		batch := loaded.Project.Store.NewBatch()
		result, err := ws.CaptureFiles(t.Context(), loaded, batch)
		if err == nil {
			err = batch.Flush(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		if accepted {
			ws.AcceptCapture(result)
		}
		ws.ReturnCapture()
		if why := b.local.TakeWalkReason(ws.Root); why != want {
			t.Errorf("accepted %t: a walk is owed for %q, want %q", accepted, why, want)
		}
	}
}
