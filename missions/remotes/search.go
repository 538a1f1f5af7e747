package remotes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/transfer"
	"github.com/umbra-vcs/umbra/missions"
	"github.com/umbra-vcs/umbra/missions/addresses"
	"github.com/umbra-vcs/umbra/missions/projects"
	"github.com/umbra-vcs/umbra/sessions/secrets"
)

// search looks for secrets in what is about to leave, and counts it.
type search struct {
	project *projects.Project
	allowed map[string]bool
	found   map[string]*missions.SecretFinding // by the words that allow it
	order   []*missions.SecretFinding
	commits map[*missions.SecretFinding]gitstore.ID
}

func newSearch(p *projects.Project, allowed []string) *search {
	s := &search{project: p, allowed: map[string]bool{}, found: map[string]*missions.SecretFinding{}, commits: map[*missions.SecretFinding]gitstore.ID{}}
	for _, one := range allowed {
		s.allowed[one] = true
	}
	return s
}

// Windows of a large file overlap by as much as a private key may take.
const (
	windowSize    = 8 << 20
	windowOverlap = 16 << 10
)

// look goes through what the tips of a mission need and the other side does not have.
func (s *search) look(ctx context.Context, m *projects.Mission, tips, known []gitstore.ID) (objects int, size int64, err error) {
	err = transfer.EachNew(ctx, s.project.Store, tips, known, func(o transfer.Object) error {
		n, err := s.lookInto(m, o)
		objects, size = objects+1, size+n
		return err
	})
	return objects, size, err
}

func (s *search) lookInto(m *projects.Mission, o transfer.Object) (size int64, err error) {
	r, size, err := s.project.Store.BlobReader(o.ID)
	if errors.Is(err, gitstore.ErrWrongType) {
		kind, data, err := s.project.Store.Object(o.ID)
		if err == nil && kind == gitstore.TypeCommit {
			s.lookThrough(m, o, data)
		}
		return int64(len(data)), err
	}
	if err != nil {
		return 0, err
	}
	defer r.Close()
	buffer := make([]byte, min(size, windowSize))
	kept := 0
	for first := true; ; first = false {
		n, err := io.ReadFull(r, buffer[kept:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return size, err
		}
		text := buffer[:kept+n]
		if first && bytes.IndexByte(text[:min(len(text), 8000)], 0) >= 0 {
			return size, nil // no text, as Git tells it
		}
		s.lookThrough(m, o, text)
		if err != nil || len(text) == 0 || int64(len(text)) == size {
			return size, nil
		}
		kept = copy(buffer, text[max(0, len(text)-windowOverlap):])
	}
}

func (s *search) lookThrough(m *projects.Mission, o transfer.Object, text []byte) {
	for _, f := range secrets.Find(text) {
		secret := text[f.Start:f.End]
		sum := sha256.Sum256(append([]byte(f.Kind+"\x00"), secret...))
		fingerprint := hex.EncodeToString(sum[:8])
		words := f.Kind + ":" + fingerprint
		if s.allowed[words] {
			continue
		}
		if before := s.found[words]; before != nil {
			before.Places++
			continue
		}
		one := &missions.SecretFinding{Rule: f.Kind, Fingerprint: fingerprint, Mission: m.Name, Path: placeOf(o), Redacted: masked(secret), Places: 1}
		s.found[words], s.order, s.commits[one] = one, append(s.order, one), o.Commit
	}
}

// placeOf says in words where an object is.
func placeOf(o transfer.Object) string {
	switch side, isSide := strings.CutPrefix(o.Path, "session/side/"); {
	case o.ID == o.Commit:
		return "message"
	case isSide:
		return "conversation, " + side
	case strings.HasPrefix(o.Path, "session/chunks/"):
		return "conversation"
	}
	return o.Path
}

// masked is the beginning of a secret, too little to use it.
func masked(secret []byte) string {
	shown := min(4, len(secret)/8)
	for shown > 0 && !utf8.Valid(secret[:shown]) {
		shown--
	}
	line, _, _ := strings.Cut(string(secret[:shown]), "\n")
	return line + "… (" + strconv.Itoa(len(secret)) + " bytes)"
}

// findings are what was found, each with the moment that it is first in.
func (s *search) findings(list []*projects.Mission) (all []missions.SecretFinding) {
	for _, one := range s.order {
		i := slices.IndexFunc(list, func(m *projects.Mission) bool { return m.Name == one.Mission })
		one.Moment = s.momentOf(list[i], s.commits[one])
		all = append(all, *one)
	}
	return all
}

// momentOf is the address of a snapshot, be it named by its record; the commit's id if no
// snapshot is near.
func (s *search) momentOf(m *projects.Mission, commit gitstore.ID) string {
	for snap, err := range s.project.SnapshotCache.WalkHistory(s.project.Store, m.Tip.ID) {
		if err != nil {
			break
		}
		if snap.ID != commit && snap.Record != commit {
			continue
		}
		if at, err := addresses.MomentBack(m, snap.ID, 0); err == nil {
			return at.Snapshot.Address(m.Name)
		}
		return snap.ID.Short()
	}
	return commit.Short()
}

// checkAllowed refuses what is not RULE:FINGERPRINT.
func checkAllowed(list []string) error {
	for _, one := range list {
		rule, fingerprint, both := strings.Cut(one, ":")
		if !both || rule == "" || len(fingerprint) != 16 || !gitstore.IsLowerHex(fingerprint) {
			return missions.Errorf(missions.KindUsage, "it is in the list of what was found", "%q is no RULE:FINGERPRINT", one)
		}
	}
	return nil
}
