"""SHA-256 sums of the files of each corpus."""

__all__ = ["SHA256"]

# Corpus → file → sum. `original.tar.xz`, the files as first published, is not needed to use a corpus.
SHA256: dict[str, dict[str, str]] = {
    "convarg": {
        "all.csv.gz": "62ae417859a9d0d4e85a3eed52b4f60798050f62d51c29ab5db6fafbb6122a0e",
        "annotators.csv.gz": "bf2c25c2e5523282ca03f384fe9868b8a258dce3ba67468f879b2af081db6385",
        "arguments.jsonl.gz": "742d8602279f33177110f132eac7936a29cc3e55a24adda341b4c4359c64eaac",
        "crowd_full.csv.gz": "a45e21ec1db0aa18340c0e01c7de8275b056af9bfdb95d9c408572d620c0dd04",
        "crowd_reasons.txt.gz": "17f75358d8d696178da4aaeee2357f4a0e642236095b16af4a1a7d4111d5aa57",
        "crowdsample.csv.gz": "1b6e8129cf19dbddada2f5eeb02a6fd427ada0c7596547b58673f52be4e9d756",
        "crowdsample_rank.csv.gz": "1c78090a99a64b08d454d470563f0514a75186824db10ad8afecc905508488d1",
        "folds.csv": "e044048472d6730bed7b095f1b3613325a2f852018f5f8898588b82875a59ec0",
        "glove100_mean.npz": "4e7c529561c3bda8de91b89d5428ef353238cfa84b9e877446cf8b9d9ee0876e",
        "glove100_vocab.npz": "998e3058f1bc1c68b7c3f2df22b5d336b624d5606d653048536205334aa4f633",
        "minilm384.npz": "80836629300634a607af85727bed67b3834b98e00e9499d79114d4a77412e443",
        "original.tar.xz": "2d56ca078b534c7df7fb603d5a46b0a4509901ca0c6f8c0743c84123de8aa880",
        "rank.csv.gz": "b4f3940139a32069d44468b7d25c898ffd955f3cb15f47eed2e9d91b4afaad27",
        "strict.csv.gz": "0c5555aef2352bb0bda2b6e86fcdb023227ddf9d4ca19b9516aa293898c59566",
    },
    "convote": {
        "citations.csv.gz": "ba55c5ed2c513f7be0f6901d46845bc1d15acd0f498f5e8492a4d0dbf0150314",
        "official_scores.csv.gz": "4e3b62ff7560f648fb619750f540d28644613088b35dd1217ef4e22ed92bbe82",
        "original.tar.xz": "2154cb20b86b45d103834cb1ca89e3b962cdc135e555ce5a6b731d2aaf4546a9",
        "segments.jsonl.gz": "245113780ef6b3db5d636433324dd82db8dc5342608d9db577f84e935702d4b7",
        "segments_refs.jsonl.gz": "fef9f54ab71e7a5302b0a76d809baac1bec0219681fbcb81a93b4b79e60dcde1",
        "speakers.csv.gz": "5a85d4043920b4aad2bbe65e13963d156eb8c853961a9428b47dbd521dfeb8e6",
    },
    "cqa": {
        "minilm384_2015.npz": "cc627c00d90c17c5e26aa7725a79d3e7fa5fb5d9c7624df53823ef2ec4ddf8ab",
        "original.tar.xz": "eb239391dd97c7f5b34839632ffcde72ceaf6b338e9458819350f738d6f148e7",
        "semeval2015_dev.jsonl.gz": "75b7c79f1e120c7efdc2300e143354a02fe4d36ef47bc2f3d68d0b3195a8b8bf",
        "semeval2015_test.jsonl.gz": "ae7527fd71489cea30e1cce6fcfa4d1e2df6dc7efe5a7ed4cada3b62f440b4b6",
        "semeval2015_train.jsonl.gz": "77997b0a5fa324da169fa45b3ea662bdbd1b87f485bdcc084355cf063189558b",
        "semeval2016_dev.jsonl.gz": "f7828637453e075904989aac83274ba29bd6a6076e95a1c0c095b4d2318ca4b9",
        "semeval2016_test.jsonl.gz": "d6094426117656844b57987b7e7906a7c1826111ebd081dd558c86545134d392",
        "semeval2016_train_part2.jsonl.gz": "846c1f96abec5f50cb7155ee01f3e7e06fe4ea9eaf9fa9af083a1bcd51558ba0",
    },
    "multiaspect": {
        "reviews.jsonl.gz": "60855c395a8a4a1f06afa31d79f2f53355cb71e87643e5350daeb6fd689591cf",
    },
    "rationales": {
        "eraser_rationales.jsonl.gz": "8a3056ea282e9a3674c88e9a96c3bbe9236c96c8df109e70d3ce753f95c878bf",
        "original.tar.xz": "b563a1181657f14528b4316d06351180e258ab66d0c5b271b94d55bd4ada9d6e",
        "polarity_v2_edited.jsonl.gz": "46b2813b27617ce3b41e9e5885ac19385a9a202a2cf94aad8764809010596c99",
        "reviews.jsonl.gz": "f8695dfe64475bb7350988766bcbecde7225383e4fc39f42f4574fdd4d7769cb",
        "vocab.txt.gz": "d19e65e35324f399d72c4376cfc9eb2d19b3c0e3b4fdc277025d9a2c7292ff9b",
    },
    "we8there": {
        "counts.npz": "d563126ca79666f112a1ff643e8d55879100e44800c8d73e72b28699935ba950",
        "ratings.csv.gz": "37355281309af43a3be545e4aa4e495fd344b4eca23c5ad0a37d12f460e84127",
        "terms.txt": "bbb5ffebb4b16b5b6ce91e8e97ba7683e57c1f745869fb9deecb6486f6ab5475",
    },
}
