ALTER TABLE `api_keys` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `rate_limit` integer;--> statement-breakpoint
ALTER TABLE `api_keys` ADD `replaced_by` text;--> statement-breakpoint
CREATE INDEX `authorizations_live` ON `authorizations` (`project_id`,`user_id`,`expires_at`) WHERE share_key is not null;