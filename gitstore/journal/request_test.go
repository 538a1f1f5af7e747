package journal

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestRequestLife(t *testing.T) {
	j := opened(t)
	mission := id(1)
	if _, ok, err := j.Next(mission); ok || err != nil {
		t.Errorf("empty queue: %v %v", ok, err)
	}
	var made []Request
	for n := range 3 {
		r, err := j.Enqueue(mission, json.RawMessage(fmt.Sprintf(`{"trigger":%d}`, n)))
		must(t, err)
		made = append(made, r)
	}
	first, ok, err := j.Next(mission)
	must(t, err)
	if !ok || first.Sequence != made[0].Sequence || first.Status != InProgress || string(first.Payload) != `{"trigger":0}` {
		t.Errorf("next %+v", first)
	}
	want(t, j.Forget(mission, first.Sequence), ErrStatus)
	_, err = j.SetStatus(mission, first.Sequence, Queued, nil)
	must(t, err)
	again, _, err := j.Next(mission)
	must(t, err)
	if again.Sequence != first.Sequence {
		t.Errorf("queued again, next is %+v", again)
	}
	done, err := j.SetStatus(mission, first.Sequence, Completed, json.RawMessage(`"abc"`))
	must(t, err)
	if string(done.Result) != `"abc"` || !done.Status.Final() {
		t.Errorf("done %+v", done)
	}
	_, err = j.SetStatus(mission, first.Sequence, Failed, nil)
	want(t, err, ErrStatus)
	_, err = j.SetStatus(mission, made[1].Sequence, "odd", nil)
	want(t, err, ErrStatus)
	_, err = j.SetStatus(mission, 7, Canceled, nil)
	want(t, err, fs.ErrNotExist)
	_, err = j.SetStatus(mission, made[1].Sequence, Canceled, nil)
	must(t, err)
	requests, damaged, err := j.Requests(mission)
	must(t, err)
	var got []Status
	for _, r := range requests {
		got = append(got, r.Status)
	}
	if fmt.Sprint(got) != "[completed canceled queued]" || damaged != nil {
		t.Errorf("queue %v, damaged %v", got, damaged)
	}
	must(t, j.Forget(mission, first.Sequence))
	must(t, j.Forget(mission, first.Sequence))
	missions, err := j.QueuedMissions()
	must(t, err)
	if fmt.Sprint(missions) != fmt.Sprint([]string{mission}) {
		t.Errorf("missions %v", missions)
	}
	must(t, j.DropQueue(mission))
	must(t, j.DropQueue(mission))
	if missions, err := j.QueuedMissions(); err != nil || len(missions) != 0 {
		t.Errorf("after the drop: %v %v", missions, err)
	}
}

// The clock stands still, then goes back: order and uniqueness must hold.
func TestSequencesDoNotTrustTheClock(t *testing.T) {
	now := time.Unix(1000, 0)
	j, err := Open(t.TempDir(), func() time.Time { return now })
	must(t, err)
	var last int64
	for n := range 6 {
		if n == 3 {
			now = time.Unix(10, 0)
		}
		r, err := j.Enqueue(id(1), nil)
		must(t, err)
		if r.Sequence <= last {
			t.Errorf("%d after %d", r.Sequence, last)
		}
		last = r.Sequence
	}
}

func TestDamagedLinesAreReportedApart(t *testing.T) {
	j := opened(t)
	a, err := j.Enqueue(id(1), nil)
	must(t, err)
	log, err := j.queueLog(id(1))
	must(t, err)
	whole := read(t, log.path)
	for cut := 2; cut < len(whole)-1; cut++ {
		must(t, os.WriteFile(log.path, []byte(whole[:cut]), 0o600))
		b, err := j.Enqueue(id(1), json.RawMessage("{\n}"))
		must(t, err)
		requests, damaged, err := j.Requests(id(1))
		must(t, err)
		if len(requests) != 1 || requests[0].Sequence != b.Sequence || damaged == nil || damaged.Path != log.path {
			t.Fatalf("cut at %d: %v, %v", cut, requests, damaged)
		}
	}
	must(t, os.WriteFile(log.path, []byte(whole+strings.Repeat("\x00", 100)+"\n{}\n"), 0o600))
	requests, damaged, err := j.Requests(id(1))
	must(t, err)
	if len(requests) != 1 || requests[0].Sequence != a.Sequence || damaged == nil {
		t.Errorf("%v, %v", requests, damaged)
	}
	_, err = j.MoveAside(damaged)
	must(t, err)
	if _, ok, err := j.Next(id(1)); ok || err != nil {
		t.Errorf("%v %v", ok, err)
	}
}

// A queue that is used for long stays short, with and without requests that
// stay in it, and so does a mission's state.
func TestLogsStayShort(t *testing.T) {
	j := opened(t)
	for _, staying := range []int{0, 5} {
		var kept []Request
		for range staying {
			r, err := j.Enqueue(id(1), json.RawMessage(`{"stays":true}`))
			must(t, err)
			kept = append(kept, r)
		}
		payload := json.RawMessage(`"` + strings.Repeat("p", 1000) + `"`)
		var last int64
		for range 150 {
			r, err := j.Enqueue(id(1), payload)
			must(t, err)
			if r.Sequence <= last {
				t.Fatalf("%d after %d", r.Sequence, last)
			}
			last = r.Sequence
			_, err = j.SetStatus(id(1), r.Sequence, Completed, nil)
			must(t, err)
			must(t, j.Forget(id(1), r.Sequence))
			must(t, j.PutLive(id(1), payload))
		}
		requests, damaged, err := j.Requests(id(1))
		must(t, err)
		if len(requests) != len(kept) || damaged != nil {
			t.Errorf("%d requests, %v, want %d", len(requests), damaged, len(kept))
		}
		for i, r := range kept {
			if requests[i].Sequence != r.Sequence || string(requests[i].Payload) != `{"stays":true}` {
				t.Errorf("request %d is %+v", i, requests[i])
			}
		}
	}
	for _, name := range []string{requestsDir, liveDir} {
		info, err := os.Stat(filepath.Join(j.Dir(), name, id(1)+logSuffix))
		must(t, err)
		if info.Size() > 80<<10 {
			t.Errorf("%s: %d bytes", name, info.Size())
		}
	}
}

// A holder that hangs makes others fail with an error that says so.
func TestSuspendedHolder(t *testing.T) {
	j := opened(t)
	j.patience = 20 * time.Millisecond
	log, err := j.queueLog(id(1))
	must(t, err)
	must(t, log.locked(func(*os.File) error {
		_, err := j.Enqueue(id(1), nil)
		want(t, err, ErrBusy)
		return nil
	}))
	_, err = j.Enqueue(id(1), nil)
	must(t, err)
}

func TestRequestsAreTakenOnce(t *testing.T) {
	j := opened(t)
	const workers, each = 6, 20
	var mutex sync.Mutex
	taken := map[int64]int{}
	var group sync.WaitGroup
	for range workers {
		group.Go(func() {
			for range each {
				if _, err := j.Enqueue(id(1), nil); err != nil {
					t.Error(err)
				}
				r, ok, err := j.Next(id(1))
				if err != nil || !ok {
					t.Errorf("next: %v %v", ok, err)
					continue
				}
				mutex.Lock()
				taken[r.Sequence]++
				mutex.Unlock()
			}
		})
	}
	group.Wait()
	if len(taken) != workers*each {
		t.Errorf("%d requests taken, want %d", len(taken), workers*each)
	}
	for sequence, times := range taken {
		if times != 1 {
			t.Errorf("%d taken %d times", sequence, times)
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	j, err := Open(b.TempDir(), time.Now)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := j.Enqueue(id(1), nil)
		if err != nil {
			b.Fatal(err)
		}
		if _, _, err := j.Next(id(1)); err != nil {
			b.Fatal(err)
		}
		if _, err := j.SetStatus(id(1), r.Sequence, Completed, nil); err != nil {
			b.Fatal(err)
		}
		if err := j.Forget(id(1), r.Sequence); err != nil {
			b.Fatal(err)
		}
	}
}
