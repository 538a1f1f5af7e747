package e2e

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// overSSH gives people who have a remote in a directory the same remote over a real sshd on
// loopback, each with a key of their own. Where there is none that lets anybody in, a skipped
// test says why, and it is the directory.
func overSSH(t *testing.T, remote string, people ...*person) string {
	t.Helper()
	url, why := serveSSH(t, remote, people)
	if why != "" {
		t.Run("sshd", func(t *testing.T) { t.Skip("the remote is a directory, since there is no sshd to use: " + why) })
		return remote
	}
	return url
}

func serveSSH(t *testing.T, remote string, people []*person) (url, why string) {
	t.Helper()
	sshd, err := exec.LookPath("sshd")
	if err != nil {
		if sshd, err = exec.LookPath("/usr/sbin/sshd"); err != nil {
			return "", err.Error()
		}
	}
	login, err := exec.Command("id", "-un").Output()
	if err != nil {
		return "", err.Error()
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	key := func(name string) (path, public string) {
		path = filepath.Join(dir, name)
		if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", path).CombinedOutput(); err != nil {
			why = fmt.Sprintf("ssh-keygen: %v %s", err, out)
			return "", ""
		}
		text, err := os.ReadFile(path + ".pub")
		if err != nil {
			t.Fatal(err)
		}
		return path, string(text)
	}
	host, hostKey := key("host")
	if why != "" {
		return "", why
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err.Error()
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	known := file("known_hosts", "[127.0.0.1]:"+port+" "+hostKey)
	allowed := ""
	for n, p := range people {
		private, public := key(fmt.Sprint("person", n))
		allowed += public
		config := file(fmt.Sprint("config", n), fmt.Sprintf(
			"Host team\nHostName 127.0.0.1\nPort %s\nUser %s\nIdentityFile %s\nIdentitiesOnly yes\nIdentityAgent none\nUserKnownHostsFile %s\nBatchMode yes\n",
			port, strings.TrimSpace(string(login)), private, known))
		p.env = append(p.env, "GIT_SSH_COMMAND=ssh -F "+config)
	}
	served := file("sshd_config", fmt.Sprintf(
		"HostKey %s\nAuthorizedKeysFile %s\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nKbdInteractiveAuthentication no\nPidFile none\nPermitRootLogin yes\nLogLevel VERBOSE\n",
		host, file("authorized", allowed)))
	answerWith(t, listener, append(withSSHDUser(t, file), sshd, "-i", "-e", "-f", served)...)
	if out := people[0].run(dir, "ssh", "-F", filepath.Join(dir, "config0"), "team", "git", "--version"); out.code != 0 {
		return "", strings.Join(strings.Fields(out.stderr), " ")
	}
	return "team:" + remote, ""
}

// withSSHDUser begins a command of root's in which there is the user that sshd gives its rights up
// for, where the machine has none, as a container: in a name space of mounts that ends with it.
func withSSHDUser(t *testing.T, file func(name, text string) string) []string {
	t.Helper()
	users, err := os.ReadFile("/etc/passwd")
	if os.Getuid() != 0 || err != nil || bytes.HasPrefix(users, []byte("sshd:")) || bytes.Contains(users, []byte("\nsshd:")) {
		return nil
	}
	with := file("passwd", string(users)+"sshd:x:65533:65534::/run/sshd:/usr/sbin/nologin\n")
	return []string{"unshare", "--mount", "sh", "-c", `mount --bind "$0" /etc/passwd && exec "$@"`, with}
}

// answerWith has a program of its own answer each connection, until the test ends.
func answerWith(t *testing.T, listener net.Listener, program ...string) {
	var running sync.WaitGroup
	t.Cleanup(func() {
		listener.Close()
		running.Wait() // each ends with its client
	})
	running.Go(func() {
		for {
			connection, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() {
				defer connection.Close()
				socket, err := connection.(*net.TCPConn).File()
				if err != nil {
					t.Error(err)
					return
				}
				defer socket.Close()
				answer := exec.Command(program[0], program[1:]...)
				answer.Stdin, answer.Stdout = socket, socket
				_ = answer.Run() // what it does not like, its client says
			})
		}
	})
}
