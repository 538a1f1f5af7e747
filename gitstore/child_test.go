package gitstore

import (
	"fmt"
	"os"
)

// childEnv makes the test binary run one of the programs below instead of the
// tests, as another process on a repository.
const childEnv = "UMBRA_GITSTORE_TEST_CHILD"

func runChild(program string) int {
	fmt.Fprintf(os.Stderr, "no program %q\n", program)
	return 1
}
