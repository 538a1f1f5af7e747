package remotes

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/transform"

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
	leaving *leaving
	names   secretNames // of files that are secrets, as snapshots have it
	held    heldFiles   // of the commit that was looked at last
	allowed map[string]bool
	found   map[string]*missions.SecretFinding // by the words that allow it
	order   []*missions.SecretFinding
	commits map[*missions.SecretFinding]gitstore.ID
}

// newSearch is a search for secrets in what is about to leave of some missions.
func (c *Carrier) newSearch(p *projects.Project, caller missions.Caller, allowed []string, list []*projects.Mission) (*search, error) {
	names, err := c.secretNames(caller, list)
	if err != nil {
		return nil, err
	}
	s := &search{
		project: p, leaving: &leaving{project: p}, names: names, allowed: map[string]bool{},
		found: map[string]*missions.SecretFinding{}, commits: map[*missions.SecretFinding]gitstore.ID{},
	}
	for _, one := range allowed {
		s.allowed[one] = true
	}
	return s, nil
}

// of has the search look through what leaves instead of what is here.
func (s *search) of(l *leaving) { s.project, s.leaving = l.project, l }

// Windows of a large file overlap by as much as a private key may take.
const (
	windowSize    = 8 << 20
	windowOverlap = 16 << 10
)

// look goes through what the tips of a mission need and the other side does not have.
func (s *search) look(ctx context.Context, m *projects.Mission, tips, known []gitstore.ID) (objects int, size int64, err error) {
	err = transfer.EachNew(ctx, s.leaving.dir(), tips, known, func(o transfer.Object) error {
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
	in := bufio.NewReader(r)
	file := s.fileOf(o)
	if start, _ := in.Peek(len(archive)); file.path != "" && s.isSecret(file, string(start)) {
		s.note(m, o, secretFile, []byte(file.path), "by its name")
	}
	return size, s.lookThroughFile(m, o, in, size)
}

// lookThroughFile looks through a text, window by window. Anything else is left out.
func (s *search) lookThroughFile(m *projects.Mission, o transfer.Object, in *bufio.Reader, size int64) error {
	text, most := io.Reader(in), size
	if mark, _ := in.Peek(2); string(mark) == "\xff\xfe" || string(mark) == "\xfe\xff" {
		text, most = transform.NewReader(in, unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM).NewDecoder()), 2*size
	}
	buffer := make([]byte, min(most, windowSize))
	kept := 0
	for first := true; ; first = false {
		n, err := io.ReadFull(text, buffer[kept:])
		if err != nil && !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) {
			return err
		}
		window := buffer[:kept+n]
		if n == 0 || first && bytes.IndexByte(window[:min(len(window), 8000)], 0) >= 0 {
			return nil // its end, or no text, as Git tells it
		}
		s.lookThrough(m, o, window)
		if err != nil {
			return nil
		}
		kept = copy(buffer, window[max(0, len(window)-windowOverlap):])
	}
}

// secretFile is the rule of a file that has the name of one.
const secretFile = "secret-file"

// archive begins a ZIP file, such as a presentation of Keynote, which has the name of a key.
const archive = "PK\x03\x04"

// isSecret reports whether a file of a workspace, which begins so, has a name that no
// snapshot takes in: it came there by the user's own Git, or before the name was a rule.
func (s *search) isSecret(f workspaceFile, start string) bool {
	return start != "" && s.names.match(f.path, start == archive) && !f.isLink(s) // which says where the secret is
}

func (s *search) lookThrough(m *projects.Mission, o transfer.Object, text []byte) {
	for _, f := range secrets.Find(text) {
		secret := text[f.Start:f.End]
		s.note(m, o, f.Kind, secret, masked(secret))
	}
}

// note adds a finding, unless it is allowed.
func (s *search) note(m *projects.Mission, o transfer.Object, rule string, secret []byte, redacted string) {
	sum := sha256.Sum256(append([]byte(rule+"\x00"), secret...))
	fingerprint := hex.EncodeToString(sum[:8])
	words := rule + ":" + fingerprint
	if s.allowed[words] {
		return
	}
	if before := s.found[words]; before != nil {
		before.Places++
		return
	}
	one := &missions.SecretFinding{Rule: rule, Fingerprint: fingerprint, Mission: m.Name, Path: s.placeOf(o), Redacted: redacted, Places: 1}
	s.found[words], s.order, s.commits[one] = one, append(s.order, one), o.Commit
}

// placeOf says in words where an object is.
func (s *search) placeOf(o transfer.Object) string {
	switch side, isSide := strings.CutPrefix(o.Path, "session/side/"); {
	case o.ID == o.Commit:
		return "message"
	case isSide:
		return "conversation, " + side
	case strings.HasPrefix(o.Path, "session/chunks/"):
		return "conversation"
	}
	return cmp.Or(s.fileOf(o).path, o.Path)
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
		one.Moment = s.momentOf(list[i], s.leaving.sourceOf(s.commits[one]))
		all = append(all, *one)
	}
	return all
}

// momentOf is the address of a snapshot, be it named by its record; the commit's id if no
// snapshot is near.
func (s *search) momentOf(m *projects.Mission, commit gitstore.ID) string {
	for snap, err := range m.Project.SnapshotCache.WalkHistory(m.Project.Store, m.Tip.ID) {
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
