package missions

import (
	"context"
	"strings"
	"testing"
)

// TestAgentThatCanNotBeEnded: what was to be done then is not forgotten. What was
// queued is said not to be done, and what was asked for since leaves what was queued
// before it as it was.
func TestAgentThatCanNotBeEnded(t *testing.T) {
	ended, cancel := context.WithCancel(context.Background())
	cancel() // nobody waits for the agent's end
	fails := func(k *keptAgent, queued bool) *loaded {
		k.Helper()
		var h *handover
		k.change(func(m *loaded) {
			var err error
			if h, err = k.local.beginHandover(context.Background(), m, k.restoreOf("live@1"), queued); h == nil || err != nil {
				k.Fatal(h, err)
			}
		})
		_, err := k.local.handOver(ended, k.state(), h)
		k.fails("a handover", err, KindFailed)
		m := k.state()
		if _, at := k.local.handing.Load(h.ID); at || m.live.Handover != nil {
			k.Errorf("it goes on: %+v", m.live.Handover)
		}
		return m
	}
	t.Run("queued", func(t *testing.T) {
		k := newKeptAgent(t)
		if m := fails(k, true); m.live.Pending != nil || !strings.Contains(m.live.NotRestored, "could not be ended") {
			t.Errorf("it waits for %v, and is said to be %q", m.live.Pending, m.live.NotRestored)
		}
	})
	t.Run("asked for", func(t *testing.T) {
		k := newKeptAgent(t)
		before := k.restoreOf("live@start")
		k.change(func(m *loaded) { m.live.Pending = &before })
		if m := fails(k, false); m.live.Pending == nil || m.live.Pending.String() != before.String() {
			t.Errorf("it waits for %v, before for %v", m.live.Pending, before)
		}
	})
}

// TestCancelBegun: what has begun is not canceled, but can be undone.
func TestCancelBegun(t *testing.T) {
	k := newKeptAgent(t)
	k.mark(k.restoreOf("live@1"), false)
	_, err := k.local.Cancel(context.Background(), CancelRequest{Caller: k.caller()})
	k.fails("a restore that has begun", err, KindBusy)
}
