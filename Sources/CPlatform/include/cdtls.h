// SPDX-License-Identifier: Apache-2.0
// What DTLS-SRTP needs of OpenSSL beside TLS: macros and functions without a fixed number of arguments.
#pragma once
#include "ctls.h"
#include <openssl/ec.h>
#include <openssl/srtp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/time.h>

/// A new key on the curve P-256, or NULL.
static inline EVP_PKEY *callbox_dtls_new_key(void) { return EVP_EC_gen("P-256"); }

/// Who a certificate is of is told by its fingerprint, after the handshake.
static inline int callbox_dtls_accept_any(int is_ok, X509_STORE_CTX *chain) {
    (void)is_ok;
    (void)chain;
    return 1;
}

/// DTLS 1.2 and later, both sides show a certificate, no renegotiation, nothing kept for resumption. Returns 1, or 0
/// where OpenSSL cannot do it.
static inline int callbox_dtls_prepare(SSL_CTX *context, const char *profiles) {
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_NO_TICKET |
                                     SSL_OP_NO_QUERY_MTU);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, callbox_dtls_accept_any);
    SSL_CTX_set_read_ahead(context, 1);
    return SSL_CTX_set_tlsext_use_srtp(context, profiles) == 0;
}

/// How long to wait for an answer after the former pause, in microseconds: the far end may not listen yet, and whoever
/// has answered waits for sound. OpenSSL begins with a second.
static inline unsigned int callbox_dtls_next_pause(SSL *ssl, unsigned int former_us) {
    (void)ssl;
    if (former_us == 0) return 100000;
    return former_us < 3200000 ? 2 * former_us : former_us;
}

/// `mtu`: bytes of the longest datagram that is sent.
static inline void callbox_dtls_set_up(SSL *ssl, long mtu) {
    SSL_set_mtu(ssl, mtu);
    DTLS_set_timer_cb(ssl, callbox_dtls_next_pause);
}

/// An empty BIO is not the end: more may come.
static inline void callbox_bio_wait_when_empty(BIO *bio) { BIO_set_mem_eof_return(bio, -1); }

/// Microseconds until the last flight has to be sent again; -1 where it has not.
static inline long long callbox_dtls_timeout_us(SSL *ssl) {
    struct timeval left;
    if (DTLSv1_get_timeout(ssl, &left) != 1) return -1;
    return (long long)left.tv_sec * 1000000 + left.tv_usec;
}

/// Sends the last flight again where it is time; -1 where it was sent too often.
static inline long callbox_dtls_handle_timeout(SSL *ssl) { return DTLSv1_handle_timeout(ssl); }

/// The number of the SRTP profile that was agreed upon (RFC 5764 section 4.1.2); 0 where there is none.
static inline unsigned long callbox_dtls_srtp_profile(SSL *ssl) {
    const SRTP_PROTECTION_PROFILE *profile = SSL_get_selected_srtp_profile(ssl);
    return profile ? profile->id : 0;
}
