// Package transfer moves commits between the shadow repository and others, by the git
// program: repositories on other machines, directories, and bundles. It knows refs and
// objects, no mission. It deletes no ref and overwrites none, on either side.
package transfer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/umbra-vcs/umbra/gitstore"
	"github.com/umbra-vcs/umbra/gitstore/git"
)

// Remote is a repository that others may change at any time, or a bundle.
type Remote struct {
	// URL is whatever git takes for one.
	URL string
	// User are the variables of the user whose configuration and credentials git uses.
	User map[string]string
}

// Error is an error of git or of the other side.
type Error struct {
	URL string // without a password
	Err error
}

func (e *Error) Error() string {
	text := e.Err.Error()
	var failed *git.Error
	if errors.As(e.Err, &failed) {
		text = strings.TrimSpace(failed.Stderr)
		if text == "" {
			text = failed.Err.Error()
		}
	}
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' }) // ssh ends its own with both
	return fmt.Sprintf("%s: %s", e.URL, WithoutPassword(strings.Join(lines, "; ")))
}

// Unwrap gives the cause.
func (e *Error) Unwrap() error { return e.Err }

// WithoutPassword is a text whose addresses say no password. Those of ssh say the user still,
// without whom they lead nowhere; elsewhere a user may be a token, and goes too.
func WithoutPassword(text string) string {
	var out strings.Builder
	for {
		scheme, rest, found := strings.Cut(text, "://")
		out.WriteString(scheme)
		if !found {
			return out.String()
		}
		out.WriteString("://")
		address := rest
		if end := strings.IndexAny(rest, " \t\n"); end >= 0 {
			address = rest[:end]
		}
		if at := strings.LastIndexByte(Authority(address), '@'); at >= 0 {
			if user, _, _ := strings.Cut(rest[:at], ":"); strings.HasSuffix(scheme, "ssh") && user != "" {
				out.WriteString(user + "@")
			}
			rest = rest[at+1:]
		}
		text = rest
	}
}

// Authority is what an address has between "://" and its path: user, password, host and port.
// A password may have a '/', though it should stand there as %2F: then no host and port end
// before that '/', and an '@' comes after it.
func Authority(rest string) string {
	head, _, _ := strings.Cut(rest, "/")
	host := head[strings.LastIndexByte(head, '@')+1:]
	if strings.HasPrefix(host, "[") { // an address of IPv6, which has colons of its own
		_, host, _ = strings.Cut(host, "]")
	}
	_, port, hasPort := strings.Cut(host, ":")
	_, noPort := strconv.ParseUint(port, 10, 16)
	at := strings.LastIndexByte(rest, '@')
	if !hasPort || noPort == nil || at < len(head) {
		return head
	}
	host, _, _ = strings.Cut(rest[at:], "/")
	return rest[:at] + host
}

func (r Remote) failed(err error) error {
	if err == nil || errors.Is(err, git.ErrNotInstalled) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return err
	}
	return &Error{URL: WithoutPassword(r.URL), Err: err}
}

// Ref is a ref of a remote, whose name may be anything.
type Ref struct {
	Name string
	ID   gitstore.ID
}

// List gives the refs of a remote whose names begin with a prefix, "refs/umbra/". Git finds
// no repository around it, whose configuration would say what a remote is and what runs.
func List(ctx context.Context, r Remote, prefix string) ([]Ref, error) {
	out, err := git.Run(ctx, git.Command{GitDir: os.DevNull, Dir: "/", User: r.user(), Args: []string{"ls-remote", "--quiet", "--", r.URL, prefix + "*"}})
	if err != nil {
		return nil, r.failed(err)
	}
	var refs []Ref
	for line := range bytes.Lines(out) {
		hex, name, ok := strings.Cut(strings.TrimRight(string(line), "\n"), "\t")
		id, err := gitstore.ParseID(hex)
		if !ok || err != nil || !strings.HasPrefix(name, prefix) {
			continue // of a tag what it leads to, or a ref elsewhere that ends so
		}
		refs = append(refs, Ref{Name: name, ID: id})
	}
	return refs, nil
}

// user are the variables of the user, never none: git speaks to another machine.
func (r Remote) user() map[string]string {
	if r.User == nil {
		return map[string]string{}
	}
	return r.User
}

// boundedMemory has git take no more memory for packs than it needs: one thread, no deltas of
// large files, and little of a pack mapped at a time, of which otherwise all of it is.
func boundedMemory() []string {
	return []string{
		"pack.threads=1", "pack.windowMemory=64m", "pack.deltaCacheSize=32m", "core.bigFileThreshold=64m",
		"core.packedGitWindowSize=16m", "core.packedGitLimit=128m", "core.deltaBaseCacheLimit=32m",
	}
}

// Push sends commits of a repository and has the remote name them. A ref that is there is moved forward
// only. What became of each ref that was not taken is in refused, by its name, in the
// words of git; the others are there. With an error nothing is known of any.
func Push(ctx context.Context, dir string, r Remote, refs []Ref) (refused map[string]string, err error) {
	args := []string{"push", "--porcelain", "--no-verify", "--no-signed", "--no-follow-tags", "--recurse-submodules=no", "--", r.URL}
	for _, ref := range refs {
		args = append(args, ref.ID.String()+":"+ref.Name)
	}
	out, err := git.Run(ctx, git.Command{GitDir: dir, Dir: dir, User: r.user(), Args: args, Config: append(boundedMemory(), "push.gpgSign=false")})
	refused, taken := parsePush(out)
	if err != nil && len(refused) == 0 {
		return nil, r.failed(err)
	}
	for _, ref := range refs {
		why, said := refused[ref.Name]
		switch {
		case !said && !taken[ref.Name]:
			refused[ref.Name] = "git does not say whether it was taken"
		case strings.Contains(why, "unpacker error"):
			refused[ref.Name] = why + remoteWords(err)
		}
	}
	return refused, nil
}

// remoteWords is what the other side has said of an error, such as that its disk is full.
func remoteWords(err error) (words string) {
	var failed *git.Error
	if !errors.As(err, &failed) {
		return ""
	}
	for line := range strings.Lines(failed.Stderr) {
		if said, ok := strings.CutPrefix(line, "remote: "); ok {
			words += ": " + strings.TrimSpace(said)
		}
	}
	return WithoutPassword(words)
}

// parsePush reads of which refs git push --porcelain says that they were refused, and why,
// and that they were taken.
func parsePush(out []byte) (refused map[string]string, taken map[string]bool) {
	refused, taken = map[string]string{}, map[string]bool{}
	for line := range bytes.Lines(out) {
		flag, rest, ok := strings.Cut(strings.TrimRight(string(line), "\n"), "\t")
		names, why, both := strings.Cut(rest, "\t")
		_, name, named := strings.Cut(names, ":")
		switch {
		case !ok || !both || !named || len(flag) != 1:
		case flag == "!":
			refused[name] = WithoutPassword(why)
		default:
			taken[name] = true
		}
	}
	return refused, taken
}
