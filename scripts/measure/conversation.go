package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/umbra-vcs/umbra/scripts/lab"
)

// longConversation is how many bytes it has.
const longConversation = 200 << 20

// talk is a session with a conversation in a small tree of its own.
type talk struct {
	*subject
	conversation *lab.Conversation
	size         int
}

// measureConversation measures what a long conversation costs beside a short
// one: all else is the same.
func measureConversation(ctx context.Context, b *bench) error {
	u, err := b.home("conversation")
	if err != nil {
		return err
	}
	daemon, err := u.Start(ctx)
	if err != nil {
		return err
	}
	var talks []*talk
	for n, size := range []int{10 << 10, longConversation} {
		one, err := b.talk(ctx, u, daemon.PID, n+1, size)
		if err != nil {
			return err
		}
		talks = append(talks, one)
	}
	long := number(megabytes(int64(talks[1].size))) + " MB"
	f := b.goal("P9")
	if err := b.talkOn(ctx, f, talks, long); err != nil {
		return err
	}
	var forks [2]lab.Costs
	for round := range b.samples(4, 2) {
		for i, t := range talks {
			if _, err := t.session.Stop(ctx); err != nil {
				return err
			}
			if err := b.Stage.Settle(ctx); err != nil {
				return err
			}
			cost, err := forkOnce(ctx, u, daemon.PID, t.session, filepath.Join(b.Stage.Dir, fmt.Sprintf("talk-fork-%d-%d", i, round)))
			if err != nil {
				return err
			}
			forks[i] = append(forks[i], cost)
		}
	}
	f.add(line{"fork, " + long, forks[1], []peer{{"the same fork with 10 kB", forks[0]}}})
	if more := forks[1].Walls().Median() - forks[0].Walls().Median(); more > 0 {
		f.least("fork", megabytes(int64(talks[1].size))/more.Seconds(), 400, " MB/s")
	} else {
		f.note("the fork of the long conversation took no longer than that of the short one")
	}
	return nil
}

func (b *bench) talk(ctx context.Context, u *lab.Umbra, daemon lab.Process, n, size int) (*talk, error) {
	dir, err := b.dir(fmt.Sprintf("talk-%d", n))
	if err != nil {
		return nil, err
	}
	files := &lab.Tree{Files: 100, Seed: uint64(n)}
	if err := files.Make(dir); err != nil {
		return nil, err
	}
	t := &talk{subject: &subject{tree: &tree{dir: dir, files: files, count: files.Files}, session: u.NewSession(dir, n), daemon: daemon}}
	if t.conversation, err = t.session.Converse(); err != nil {
		return nil, err
	}
	if t.size, err = t.conversation.Grow(size); err != nil {
		return nil, err
	}
	return t, t.session.Begin(ctx)
}

// talkOn measures hooks after one file was edited: with 10 KiB more said, and with
// nothing.
func (b *bench) talkOn(ctx context.Context, f *finding, talks []*talk, long string) error {
	var said, silent [2]lab.Costs
	for round := -3; round < b.samples(40, 8); round++ { // the first warm up
		for i, t := range talks {
			for _, more := range []int{9 << 10, 0} {
				cost, err := b.say(ctx, t, round, more)
				if err != nil {
					return err
				}
				switch {
				case round < 0:
				case more > 0:
					said[i] = append(said[i], cost)
				default:
					silent[i] = append(silent[i], cost)
				}
			}
		}
	}
	f.add(line{"hook, 1 file edited, 10 KiB more of " + long, said[1], []peer{{"the same, of 10 kB", said[0]}, {"the same, nothing more said", silent[1]}}})
	f.within("what 10 KiB more add to a hook", said[1].Walls().Over(silent[1].Walls()), 5*time.Millisecond)
	return nil
}

// say edits a file, lets the conversation grow, and tells of a tool.
func (b *bench) say(ctx context.Context, t *talk, round, more int) (lab.Cost, error) {
	if err := t.edit(1, round+3); err != nil {
		return lab.Cost{}, err
	}
	if more > 0 {
		n, err := t.conversation.Grow(more)
		if err != nil {
			return lab.Cost{}, err
		}
		t.size += n
	}
	if err := b.Stage.Settle(ctx); err != nil {
		return lab.Cost{}, err
	}
	return t.hook(ctx, true)
}
