"""Residual vector quantisation."""

import copy

import pytest
import torch

from voicenym.nets.codec.quantizer import Codebook, ResidualQuantizer


def clusters(count, size, per, spread=0.01):
    generator = torch.Generator().manual_seed(3)
    centres = torch.randn(count, size, generator=generator) * 3
    noise = spread * torch.randn(count * per, size, generator=generator)
    return centres, centres.repeat(per, 1) + noise


def test_entries_begin_as_clusters_of_the_first_batch_and_stay_there():
    centres, x = clusters(4, 6, 50)
    book = Codebook(16, 6, least=0.0).train()
    for _ in range(5):
        codes, found = book(x)
    # 16 entries on 4 clusters: every cluster has one of its own, at least
    assert float(torch.cdist(centres, book.vectors).min(1).values.max()) < 0.1
    assert float((found - x).square().mean()) < 1e-3
    assert torch.equal(codes, torch.cdist(x, book.vectors).argmin(1))


def test_an_entry_is_the_moving_average_of_what_falls_to_it():
    book = Codebook(2, 1, decay=0.9, least=0.0).train()
    book.steps.fill_(1)
    book.vectors.copy_(torch.tensor([[0.0], [10.0]]))
    book.counts.fill_(4.0)
    book.sums.copy_(book.vectors * 4.0)
    codes, found = book(torch.tensor([[1.0], [1.0], [9.0]]))
    assert codes.tolist() == [0, 0, 1]
    # those found are the ones before the step
    assert found[:, 0].tolist() == [0.0, 0.0, 10.0]
    expected = [(0.1 * 2.0) / (3.6 + 0.2), (36.0 + 0.9) / (3.6 + 0.1)]
    torch.testing.assert_close(book.vectors[:, 0], torch.tensor(expected), atol=1e-3, rtol=0)


def test_an_unused_codebook_entry_restarts_within_the_batch():
    book = Codebook(3, 2, least=1.0).train()
    book.steps.fill_(1)
    book.vectors.copy_(torch.tensor([[0.0, 0.0], [1e3, 1e3], [-1e3, 0.0]]))
    book.counts.copy_(torch.tensor([9.0, 0.5, 0.0]))
    book.sums.copy_(book.vectors * book.counts[:, None])
    x = torch.randn(40, 2, generator=torch.Generator().manual_seed(0))
    book(x)
    assert float(book.vectors.abs().max()) < 10.0
    for vector in book.vectors[1:]:
        assert float((x - vector).square().sum(1).min()) < 1e-6
    assert book.counts[1:].tolist() == [1.0, 1.0]


def test_evaluation_changes_nothing_and_training_depends_on_the_batches_alone():
    x = torch.randn(64, 4, generator=torch.Generator().manual_seed(1))
    one, other = Codebook(8, 4, seed=2).train(), Codebook(8, 4, seed=2).train()
    torch.manual_seed(5)
    one(x), one(x)
    torch.manual_seed(6)
    other(x), other(x)
    assert torch.equal(one.vectors, other.vectors)
    before = one.vectors.clone()
    one.eval()(x)
    assert torch.equal(one.vectors, before)


def test_few_vectors_and_many_entries():
    book = Codebook(32, 4).train()
    for _ in range(3):
        book(torch.randn(5, 4))
    assert bool(book.vectors.isfinite().all())


def test_each_codebook_quantises_what_the_ones_before_left():
    torch.manual_seed(0)
    quantizer = ResidualQuantizer(3, 16, 4, least=0.1).train()
    x = torch.randn(2, 4, 100)
    for _ in range(20):
        quantizer(x)
    quantizer.eval()
    found = quantizer(x)
    assert found.codes.shape == (2, 3, 100)
    rest, error = x.transpose(1, 2), []
    for i, book in enumerate(quantizer.books):
        expected = torch.cdist(rest, book.vectors[None].expand(2, -1, -1)).argmin(2)
        assert torch.equal(found.codes[:, i], expected)
        rest = rest - book.vectors[expected]
        error.append(float(rest.square().mean()))
    assert error[0] > error[1] > error[2]
    assert float(found.commitment) == pytest.approx(sum(error), rel=1e-4)
    torch.testing.assert_close(quantizer.looked_up(found.codes), found.total)
    torch.testing.assert_close(quantizer.looked_up(found.codes[:, :1]), found.first)
    assert float(found.perplexity.min()) >= 1.0
    assert float(found.perplexity.max()) <= 16.0
    with pytest.raises(ValueError, match="there are 3"):
        quantizer.looked_up(torch.zeros(1, 4, 2, dtype=torch.int64))


def test_rows_may_be_of_the_first_few_codebooks():
    torch.manual_seed(0)
    quantizer = ResidualQuantizer(3, 8, 4).eval()
    x = torch.randn(3, 4, 5)
    whole = quantizer(x)
    part = quantizer(x, torch.tensor([1, 2, 3]))
    assert torch.equal(part.codes, whole.codes)
    assert torch.equal(part.first, whole.first)
    for row, most in enumerate((1, 2, 3)):
        few = quantizer.looked_up(whole.codes[row, None, :most])[0]
        torch.testing.assert_close(part.total[row], few)
        short = quantizer.shortened(most)(x)
        assert torch.equal(short.codes, whole.codes[:, :most])
        torch.testing.assert_close(short.total[row], few)


def test_codebooks_begin_as_clusters_of_several_steps_one_after_the_other():
    torch.manual_seed(0)
    coarse, fine = 10.0 * torch.randn(4, 6), torch.randn(4, 6)
    frames = [
        (coarse[torch.randint(4, (50,))] + fine[torch.randint(4, (50,))]).T[None] for _ in range(8)
    ]
    quantizer = ResidualQuantizer(codebooks=2, entries=16, size=6, least=0.01)
    quantizer.begin(frames)
    for book in quantizer.books:
        # as many a step as there were a step, so that they are begun anew when they should
        torch.testing.assert_close(book.counts.sum(), torch.tensor(50.0))
        assert int(book.steps) == 1
    made = quantizer.eval()(torch.cat(frames, dim=2))
    assert made.perplexity[0] > 3.9
    apart = torch.cat(frames, dim=2) - made.total
    assert apart.square().mean() < 0.1 * fine.square().mean()
    kept = quantizer.books[0].vectors.clone()
    quantizer.train()(frames[0])  # does not begin again
    used = quantizer.books[0].counts > 1.0
    assert (quantizer.books[0].vectors - kept)[used].norm() < 0.1 * kept[used].norm()


def test_gradients_pass_straight_through_and_commitment_draws_to_the_entries():
    torch.manual_seed(0)
    quantizer = ResidualQuantizer(2, 8, 4).eval()
    x = torch.randn(1, 4, 5, requires_grad=True)
    found = quantizer(x)
    weight = torch.randn(1, 4, 5)
    (found.total * weight).sum().backward()
    torch.testing.assert_close(x.grad, weight)
    x.grad = None
    quantizer(x).commitment.backward()
    q, total = found.first.detach(), found.total.detach()
    torch.testing.assert_close(x.grad, 2.0 * ((x.detach() - q) + (x.detach() - total)) / 20)


def test_entries_come_after_what_has_moved_away():
    torch.manual_seed(0)
    book = Codebook(64, 4, decay=0.9, least=0.2).train()
    near, far = torch.randn(48, 4), 50.0 + torch.randn(48, 4)
    for _ in range(3):
        book(near)
    used = [len(book(far)[0].unique()) for _ in range(60)]
    # at first an entry or two take it all; when the others have fallen out of use they follow
    assert used[0] <= 4
    assert used[-1] > 40
    assert float((book(far)[1] - far).square().mean()) < 0.05


def test_lengths_of_entries_are_remembered_until_these_change():
    torch.manual_seed(0)
    book = Codebook(16, 4).eval()
    x = torch.randn(50, 4)

    def plain():
        return torch.cdist(x, book.vectors).argmin(1)

    assert torch.equal(book.nearest(x), plain())
    book.vectors.mul_(-0.5)
    assert torch.equal(book.nearest(x), plain())
    book.load_state_dict(Codebook(16, 4, seed=5).state_dict())
    assert torch.equal(book.nearest(x), plain())
    with torch.inference_mode():
        book.vectors.add_(0.3)
        assert torch.equal(book.nearest(x), plain())
    book = copy.deepcopy(book)
    assert torch.equal(book.nearest(x), plain())
