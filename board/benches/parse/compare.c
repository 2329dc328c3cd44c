// SPDX-License-Identifier: Apache-2.0
// Usage: compare MESSAGE: parses and prints the message of a file, by turns with ours and with GNU oSIP, and prints the
// median time of each in nanoseconds of processor time, one a line: ours, oSIP's.

#include <osipparser2/osip_parser.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { TURNS = 41, ROUNDS = 2000, MESSAGE_BYTES_MAX = 65536 };

long callbox_parse_and_print(const unsigned char *bytes, long count);

static long osip_parse_and_print(const unsigned char *bytes, long count)
{
    osip_message_t *message;
    char *text = NULL;
    size_t length = 0;

    if (osip_message_init(&message) != 0) return 0;
    if (osip_message_parse(message, (const char *)bytes, (size_t)count) != 0) length = 0;
    else if (osip_message_to_str(message, &text, &length) == 0) osip_free(text);
    osip_message_free(message);
    return (long)length;
}

static double nanoseconds(long (*run)(const unsigned char *, long), const unsigned char *bytes, long count)
{
    struct timespec begin, end;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &begin);
    for (int round = 0; round < ROUNDS; round++)
        if (run(bytes, count) <= 0) {
            fputs("the message cannot be parsed\n", stderr);
            exit(1);
        }
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &end);
    return ((end.tv_sec - begin.tv_sec) * 1e9 + (end.tv_nsec - begin.tv_nsec)) / ROUNDS;
}

static int compare(const void *left, const void *right)
{
    double difference = *(const double *)left - *(const double *)right;

    return (difference > 0) - (difference < 0);
}

int main(int count, char **words)
{
    static unsigned char bytes[MESSAGE_BYTES_MAX + 1];
    static double ours[TURNS], theirs[TURNS];
    FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
    long length;

    if (file == NULL) {
        fputs("usage: compare MESSAGE\n", stderr);
        return 2;
    }
    length = (long)fread(bytes, 1, MESSAGE_BYTES_MAX, file);
    fclose(file);
    parser_init();
    for (int turn = 0; turn < TURNS; turn++) {
        ours[turn] = nanoseconds(callbox_parse_and_print, bytes, length);
        theirs[turn] = nanoseconds(osip_parse_and_print, bytes, length);
    }
    qsort(ours, TURNS, sizeof *ours, compare);
    qsort(theirs, TURNS, sizeof *theirs, compare);
    printf("%.0f\n%.0f\n", ours[TURNS / 2], theirs[TURNS / 2]);
    return 0;
}
